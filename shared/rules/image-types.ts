// The type of an image by its first bytes; its name and declared type are ignored. Only formats that a browser does not
// execute are accepted.

/** Content types of uploaded images. */
export const imageTypes = ["image/png", "image/jpeg", "image/gif", "image/webp"] as const;

const types = {
  png: "image/png",
  jpg: "image/jpeg",
  gif: "image/gif",
  webp: "image/webp",
} as const satisfies Record<string, (typeof imageTypes)[number]>;

type ImageExtension = keyof typeof types;

export interface ImageType {
  extension: ImageExtension;
  contentType: (typeof types)[ImageExtension];
}

const PNG = Buffer.from("89504e470d0a1a0a0000000d49484452", "hex");
/** Start of frame, tables, application and comment segments: they may follow the first marker of a JPEG. */
const isJpegSegment = (marker: number) => marker >= 0xc0 && marker <= 0xfe && marker !== 0xd8 && marker !== 0xd9;
const GIF_VERSIONS = ["GIF87a", "GIF89a"];
const WEBP_CHUNKS = ["VP8 ", "VP8L", "VP8X"];

/** The type by the magic bytes and the structure that must follow them; undefined for any other file. */
export function imageTypeOf(bytes: Buffer): ImageType | undefined {
  const extension = extensionOf(bytes);
  return extension && { extension, contentType: types[extension] };
}

function extensionOf(bytes: Buffer): ImageExtension | undefined {
  const text = (from: number, to: number) => bytes.toString("latin1", from, to);
  if (bytes.length < 20) return undefined;
  if (bytes.subarray(0, PNG.length).equals(PNG)) return bytes.readUInt32BE(16) > 0 ? "png" : undefined;
  if (bytes[0] === 0xff && bytes[1] === 0xd8)
    return bytes[2] === 0xff && isJpegSegment(bytes.readUInt8(3)) ? "jpg" : undefined;
  if (GIF_VERSIONS.includes(text(0, 6))) return isGifScreen(bytes) ? "gif" : undefined;
  const isWebp = text(0, 4) === "RIFF" && text(8, 12) === "WEBP" && WEBP_CHUNKS.includes(text(12, 16));
  return isWebp && bytes.readUInt32LE(4) + 8 <= bytes.length + 1 ? "webp" : undefined;
}

/** Whether the screen has a width and a height, and the first block follows the optional colour table. */
function isGifScreen(bytes: Buffer): boolean {
  const flags = bytes.readUInt8(10);
  const start = 13 + (flags & 0x80 ? 3 << ((flags & 7) + 1) : 0);
  return bytes.readUInt16LE(6) > 0 && bytes.readUInt16LE(8) > 0 && [0x21, 0x2c].includes(bytes[start] ?? 0);
}
