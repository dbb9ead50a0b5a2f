// Property tests draw the same cases every run; another seed is tried by `FC_SEED`. Passwords are hashed at a small cost:
// that of the product takes a sixth of a second, and tests prove what is done with a hash, not how long it takes.
import crypto from "node:crypto";
import { syncBuiltinESMExports } from "node:module";
import fc from "fast-check";

Error.stackTraceLimit = 10;

fc.configureGlobal({ seed: Number(process.env.FC_SEED ?? 20_261_120) });

const MARK = Symbol.for("cheap scrypt");
const { scrypt } = crypto as typeof crypto & { scrypt: { [MARK]?: true } };
if (!scrypt[MARK]) {
  const cheap = (...[password, salt, length, options, done]: Parameters<typeof scrypt>) =>
    scrypt(password, salt, length, { ...options, N: 2, p: 1 }, done);
  crypto.scrypt = Object.assign(cheap, { [MARK]: true }) as typeof scrypt;
  syncBuiltinESMExports();
}
