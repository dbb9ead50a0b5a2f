// What is used of the oracle for Web Push.
declare module "web-push" {
  export function encrypt(
    userPublicKey: string,
    userAuth: string,
    payload: string,
    contentEncoding: "aes128gcm",
  ): { cipherText: Buffer };
  export function generateVAPIDKeys(): { publicKey: string; privateKey: string };
}
