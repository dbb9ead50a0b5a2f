// What a user does with the lines that `npm start` prints: pastes them, and reads a live stream.

/** Does what a printed curl command does; its words are quoted with single quotes or not at all. */
export function paste(command: string): Promise<Response> {
  const words = [...command.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain!);
  const after = (flag: string) => words.flatMap((word, i) => (word === flag ? [words[i + 1]!] : []));
  const headers = after("-H").map((line) => line.split(": ") as [string, string]);
  const [body] = after("-d");
  const method = after("-X")[0] ?? (body === undefined ? "GET" : "POST");
  return fetch(words.find((word) => word.startsWith("http"))!, {
    method,
    headers,
    ...(body !== undefined && { body }),
  });
}

/** The frames of a live stream, as they arrive. */
export async function* framesOf(response: Response) {
  let text = "";
  for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
      yield text.slice(0, end);
      text = text.slice(end + 2);
    }
  }
}
