// What a push opens, from the data that a provider was given for the app.

interface PushButton {
  id: string;
  title: string;
  url: string;
}

interface PushOpens {
  /** The link that a tap opens. */
  url?: string;
  buttons?: readonly PushButton[];
}

const isButtons = (value: unknown): value is readonly PushButton[] =>
  Array.isArray(value) && value.every((one) => ["id", "title", "url"].every((part) => typeof one?.[part] === "string"));

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The app's own data may be called so too.
    return undefined;
  }
}

/** Apple gets the data beside its own part; for Android each part of it is text. */
export function opensOf(payload: unknown): PushOpens {
  const { data = payload } = Object(payload) as { data?: unknown };
  const { url, buttons: given } = Object(data) as { url?: unknown; buttons?: unknown };
  const buttons = typeof given === "string" ? parsed(given) : given;
  return { ...(typeof url === "string" && { url }), ...(isButtons(buttons) && { buttons }) };
}
