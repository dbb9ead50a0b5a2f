// A DynamoDB of another process, asked as ours is.
import { Agent, request } from "node:http";
import { awsFailure, type StandIn, type Wire } from "../../local/aws/index.ts";

const TIMEOUT_MS = 20_000;
/** The signature is not checked; the access key is read from it. */
const AUTHORIZATION =
  "AWS4-HMAC-SHA256 Credential=local/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host;x-amz-date;x-amz-target, Signature=00";

/** Any DynamoDB that listens at a loopback address. */
export function remote(endpoint: string): StandIn {
  const agent = new Agent({ keepAlive: true });
  return {
    operate: async (operation, input) => {
      const streams = ["DescribeStream", "GetRecords", "GetShardIterator", "ListStreams"].includes(operation);
      const target = `${streams ? "DynamoDBStreams" : "DynamoDB"}_20120810.${operation}`;
      const { status, text } = await post(endpoint, agent, target, JSON.stringify(input));
      const answer = JSON.parse(text || "{}") as Wire;
      if (status === 200) return answer;
      const { __type, message, Message, ...fields } = answer;
      const name = String(__type).split("#").at(-1)!;
      throw awsFailure(name, String(message ?? Message ?? ""), { status, fields });
    },
  };
}

function post(endpoint: string, agent: Agent, target: string, body: string): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const headers = {
      "content-type": "application/x-amz-json-1.0",
      "x-amz-target": target,
      "x-amz-date": "20260101T000000Z",
      authorization: AUTHORIZATION,
    };
    const sent = request(endpoint, { method: "POST", agent, headers }, async (response) => {
      try {
        let text = "";
        for await (const chunk of response.setEncoding("utf8")) text += chunk;
        resolve({ status: response.statusCode ?? 0, text });
      } catch (error) {
        reject(error);
      }
    });
    sent.setTimeout(TIMEOUT_MS, () => sent.destroy(new Error("No answer.")));
    sent.on("error", reject);
    sent.end(body);
  });
}
