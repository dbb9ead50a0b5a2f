// An experience as the app of a phone shows it, by its format.
import type { Experience } from "../../sdk/src/types.gen.ts";
import { inPlain } from "../../shared/rules/placeholders.ts";

interface SeenProps {
  format: Experience["format"];
  title: string;
  body: string;
  image_url?: string | undefined;
  actions?: readonly { id: string; title: string }[] | undefined;
}

export function ExperienceSeen({ format, title, body, image_url, actions = [] }: SeenProps) {
  return (
    <figure class={`phone ${format}`}>
      <div class="phone-app" aria-hidden="true">
        <i />
        <i />
        <i />
        <i />
      </div>
      <div class="experience">
        {image_url && <Image url={image_url} />}
        <div class="experience-text" dir="auto">
          <b>{inPlain(title)}</b>
          {body && <p>{inPlain(body)}</p>}
          {actions.length > 0 && (
            <div class="experience-actions">
              {actions.map((one) => (
                <span key={one.id}>{inPlain(one.title) || "Button"}</span>
              ))}
            </div>
          )}
        </div>
      </div>
    </figure>
  );
}

/** The policy of the console loads no image of another site. */
function Image({ url }: { url: string }) {
  const isOwn = URL.canParse(url) && new URL(url).origin === location.origin;
  return isOwn ? <img src={url} alt="" /> : <span class="experience-image">An image of {hostOf(url)}</span>;
}

const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).host : "another site");
