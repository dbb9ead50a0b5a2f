// The type of an image (AST-2): by its bytes only, and one of four.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { imageTypeOf } from "../../shared/rules/image-types.ts";
import { hostileFiles } from "../support/hostile-files.ts";
import { pictures } from "../support/pictures.ts";

it.each([
  ["png", "image/png", "png"],
  ["gif", "image/gif", "gif"],
  ["webp", "image/webp", "webp"],
  ["jpeg", "image/jpeg", "jpg"],
] as const)("knows a %s by its bytes (AST-2)", (kind, contentType, extension) => {
  expect(imageTypeOf(pictures[kind])).toEqual({ contentType, extension });
});

it.each(["VP8 ", "VP8L", "VP8X"])("an image of WebP begins with the chunk %s (AST-2)", (chunk) => {
  const bytes = Buffer.from(pictures.webp);
  bytes.write(chunk, 12, "latin1");

  expect(imageTypeOf(bytes)?.extension).toBe("webp");
});

describe("hostile files", () => {
  it("hostile files are more than 40, each a different technique (AST-2)", () => {
    expect(hostileFiles.length).toBeGreaterThanOrEqual(40);
    expect(new Set(hostileFiles.map(({ bytes }) => bytes.toString("latin1"))).size).toBe(hostileFiles.length);
  });

  it.each(hostileFiles.map(({ about, bytes }) => [about, bytes] as const))("%s is no image (AST-2)", (_, bytes) => {
    expect(imageTypeOf(bytes)).toBeUndefined();
  });
});

it("the check of images accepts only bytes that begin as an image, and never throws (AST-2)", () => {
  const beginnings = [/^89504e470d0a1a0a/, /^ffd8ff/, /^47494638(37|39)61/, /^52494646.{8}57454250/];
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 64 }),
    fc
      .tuple(fc.constantFrom(...Object.values(pictures)), fc.nat(40), fc.nat(255))
      .map(([picture, at, byte]) => Buffer.from(picture).fill(byte, at % picture.length, (at % picture.length) + 1)),
    fc.tuple(fc.constantFrom(...Object.values(pictures)), fc.nat(200)).map(([picture, to]) => picture.subarray(0, to)),
  );
  fc.assert(
    fc.property(bytes, (given) => {
      const file = Buffer.from(given);
      const type = imageTypeOf(file);
      if (type) expect(beginnings.some((beginning) => beginning.test(file.toString("hex")))).toBe(true);
    }),
  );
});
