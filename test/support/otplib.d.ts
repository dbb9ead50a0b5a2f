// What the tests use of it, so that a checkout without it still typechecks.
declare module "otplib" {
  interface Authenticator {
    /** The code of a key in base32. */
    generate(key: string): string;
    keyuri(account: string, issuer: string, key: string): string;
    /** `epoch`: the time in milliseconds. */
    clone(options: { epoch: number }): Authenticator;
  }
  export const authenticator: Authenticator;
}
