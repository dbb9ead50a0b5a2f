// QR codes as readers of others decoded them (jsQR read all lengths up to 520 bytes when this was written).
import { expect, it } from "vitest";
import { qrCode } from "../../console/app/qr-code.ts";
import { hashOf } from "../../shared/store/hash.ts";

const drawn = (text: string) => qrCode(text)!.map((row) => row.map((dark) => (dark ? "#" : ".")).join(""));

it("a QR code has the size of its version, finders, and the modules that readers were shown to decode", () => {
  const rows = drawn("otpauth://totp/Service:ada%40lovelace.example?secret=JBSWY3DPEHPK3PXP&issuer=Service");
  expect([rows.length, rows[0]!.slice(0, 8), rows[0]!.slice(-8)]).toEqual([37, "#######.", ".#######"]);
  expect(hashOf(rows.join("\n"))).toMatchInlineSnapshot(
    `"01a5a83cf875bf93e0aa432dafaef3a293ba351a4803baa6efc7ba7acfce8989"`,
  );
});

it("a text beyond 520 bytes has no QR code", () => {
  expect(qrCode("a".repeat(520))).toHaveLength(77);
  expect(qrCode("a".repeat(521))).toBeUndefined();
});
