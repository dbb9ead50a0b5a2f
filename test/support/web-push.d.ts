// Types of the Web Push library that tests compare with.
declare module "web-push" {
  export function encrypt(
    userPublicKey: string,
    userAuth: string,
    payload: string,
    contentEncoding: "aes128gcm",
  ): { cipherText: Buffer };
  export function generateVAPIDKeys(): { publicKey: string; privateKey: string };
}
