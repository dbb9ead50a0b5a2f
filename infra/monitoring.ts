// CloudWatch and SNS by their own protocols: three operations do not need client libraries.
import type { LambdaClient } from "@aws-sdk/client-lambda";
import { Sha256 } from "@smithy/core/checksum";
import { SignatureV4 } from "@smithy/signature-v4";

/** The alarms of an account, and who is subscribed to their topics. */
export type Monitoring = (
  operation: "DescribeAlarms" | "SetAlarmState" | "ListSubscriptionsByTopic",
  input: object,
) => Promise<unknown>;

interface Account {
  region: string;
  credentials: ConstructorParameters<typeof SignatureV4>[0]["credentials"];
  /** The endpoint of both services. Default: those of AWS. */
  endpoint?: string;
}

const CLOUDWATCH_TARGET = "GraniteServiceVersion20100801";
const SNS_VERSION = "2010-03-31";

/** @throws an error with the name and the message of AWS */
export function monitoringOf({ region, credentials, endpoint }: Account): Monitoring {
  const suffix = region.startsWith("cn-") ? "amazonaws.com.cn" : "amazonaws.com";
  const post = async (service: string, body: string, headersOfProtocol: Record<string, string>) => {
    const signer = new SignatureV4({ service, region, credentials, sha256: Sha256 });
    const { host, hostname, protocol, origin } = new URL(endpoint ?? `https://${service}.${region}.${suffix}`);
    const headers = { host, ...headersOfProtocol };
    const signed = await signer.sign({ method: "POST", protocol, hostname, path: "/", query: {}, headers, body });
    const { host: _, ...signedHeaders } = signed.headers;
    const response = await fetch(origin, { method: "POST", headers: signedHeaders, body });

    const text = await response.text();
    return { text, status: response.status, ok: response.ok };
  };
  return async (operation, input) => {
    const isOfTopic = operation === "ListSubscriptionsByTopic";
    const { text, status, ok } = isOfTopic
      ? await post("sns", queryOf(operation, input), { "content-type": "application/x-www-form-urlencoded" })
      : await post("monitoring", JSON.stringify(input), {
          "content-type": "application/x-amz-json-1.0",
          "x-amz-target": `${CLOUDWATCH_TARGET}.${operation}`,
        });
    if (!ok) throw new Error(`${isOfTopic ? "SNS" : "CloudWatch"} refused ${operation} with ${status}: ${text}`);
    if (isOfTopic) return subscriptionsIn(text);
    return text === "" ? {} : JSON.parse(text);
  };
}

const queryOf = (operation: string, input: object) =>
  new URLSearchParams({ Action: operation, Version: SNS_VERSION, ...input }).toString();

/** SNS answers in XML. */
function subscriptionsIn(xml: string) {
  const textOf = (element: string, within: string) =>
    new RegExp(`<${element}>([^<]*)</${element}>`).exec(within)?.[1]?.replaceAll("&amp;", "&");
  const Subscriptions = [...xml.matchAll(/<member>(.*?)<\/member>/gs)].map(([, member = ""]) => ({
    SubscriptionArn: textOf("SubscriptionArn", member),
    Endpoint: textOf("Endpoint", member),
  }));
  const NextToken = textOf("NextToken", xml);
  return { Subscriptions, ...(NextToken && { NextToken }) };
}

/** Those of the account and region of another client. */
export const deployedMonitoring = async ({ config }: LambdaClient): Promise<Monitoring> =>
  monitoringOf({ region: await config.region(), credentials: config.credentials });
