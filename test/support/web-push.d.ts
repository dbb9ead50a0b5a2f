// Types of the Web Push library that tests compare with.
declare module "web-push" {
  const webPush: {
    encrypt(
      userPublicKey: string,
      userAuth: string,
      payload: string,
      contentEncoding: "aes128gcm",
    ): { cipherText: Buffer };
    generateVAPIDKeys(): { publicKey: string; privateKey: string };
  };
  export = webPush;
}
