// Small pictures of each kind, and multipart bodies to send them in.

/** A complete image of one pixel. */
export const pictures = {
  png: Buffer.from(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
    "base64",
  ),
  gif: Buffer.from("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7", "base64"),
  webp: Buffer.from("UklGRiQAAABXRUJQVlA4IBgAAAAwAQCdASoBAAEAAwA0JaQAA3AA/vuUAAA=", "base64"),
  jpeg: Buffer.from(
    "/9j/4AAQSkZJRgABAQEASABIAAD/2wBDAAMCAgICAgMCAgIDAwMDBAYEBAQEBAgGBgUGCQgKCgkICQkKDA8MCgsOCwkJDRENDg8QEBEQCgwSExIQEw8QEBD/yQALCAABAAEBAREA/8wABgAQEAX/2gAIAQEAAD8A0s8g/9k=",
    "base64",
  ),
} as const;

const BOUNDARY = "----a-boundary";

interface Part {
  filename?: string;
  type?: string;
  bytes: Buffer | string;
}

/** A multipart body of the given parts, in order, and the header that goes with it. */
export function formOf(parts: Record<string, Part | Buffer>): { body: Buffer; headers: Record<string, string> } {
  const pieces = Object.entries(parts).flatMap(([field, given]) => {
    const { bytes, ...about } = Buffer.isBuffer(given) ? { bytes: given, filename: "picture" } : given;
    const filename = about.filename === undefined ? "" : `; filename="${about.filename}"`;
    const type = "type" in about && about.type ? `content-type: ${about.type}\r\n` : "";
    const head = `--${BOUNDARY}\r\ncontent-disposition: form-data; name="${field}"${filename}\r\n${type}\r\n`;
    return [Buffer.from(head), Buffer.from(bytes as string), Buffer.from("\r\n")];
  });
  return {
    body: Buffer.concat([...pieces, Buffer.from(`--${BOUNDARY}--\r\n`)]),
    headers: { "content-type": `multipart/form-data; boundary=${BOUNDARY}` },
  };
}
