// Variables of a text as people read them, where it stands as it was written and nobody's values fill it.
import { inPlain } from "../../shared/rules/placeholders.ts";

export { inPlain };

/** What a send is called: by its name, else by its title. */
export const sendName = ({ name, title }: { name: string | null; title: string | null }): string =>
  name ?? inPlain(title ?? "A template");
