// What a program is given: where the service is, and a credential of each kind.
const read = (name: string): string => {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is not set.`);
  return value;
};

export const environment = {
  baseUrl: read("BASE_URL"),
  serverKey: read("SERVER_KEY"),
  sdkKey: read("SDK_KEY"),
  accessToken: read("ACCESS_TOKEN"),
};

/** Waits until the local service has done all work that is due. */
export async function settle(): Promise<void> {
  const answer = await fetch(`${environment.baseUrl}/_local/settle`, { method: "POST" });
  if (!answer.ok) throw new Error(`settle answered ${answer.status}`);
}
