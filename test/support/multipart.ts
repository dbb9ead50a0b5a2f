// Multipart bodies for tests: fields, and at most one file.
const BOUNDARY = "----test-boundary-7f3a";

export interface FilePart {
  name?: string;
  filename: string;
  type?: string;
  content: string | Buffer;
}

/** What `call` takes: the raw body and its content type. */
export function multipartBody(fields: Record<string, string>, file?: FilePart) {
  const parts: (string | Buffer)[] = Object.entries(fields).map(
    ([name, value]) => `--${BOUNDARY}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  );
  if (file) {
    const { name = "file", filename, type = "text/csv", content } = file;
    const disposition = `content-disposition: form-data; name="${name}"; filename="${filename}"`;
    parts.push(`--${BOUNDARY}\r\n${disposition}\r\ncontent-type: ${type}\r\n\r\n`, content, "\r\n");
  }
  parts.push(`--${BOUNDARY}--\r\n`);
  return {
    raw: Buffer.concat(parts.map((part) => Buffer.from(part as string))),
    headers: { "content-type": `multipart/form-data; boundary=${BOUNDARY}` },
  };
}
