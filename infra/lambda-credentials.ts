// The credentials of a Lambda function, read from its environment. Bundled instead of the SDK's long provider chain.
export const defaultProvider = () => async () => ({
  accessKeyId: String(process.env.AWS_ACCESS_KEY_ID),
  secretAccessKey: String(process.env.AWS_SECRET_ACCESS_KEY),
  ...(process.env.AWS_SESSION_TOKEN && { sessionToken: process.env.AWS_SESSION_TOKEN }),
});
