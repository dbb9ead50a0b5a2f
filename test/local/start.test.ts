// `npm start` as a process of its own: what it prints works when pasted, and its data outlives a `kill -9`.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { parseEnv } from "node:util";
import { DynamoDBClient, ScanCommand } from "@aws-sdk/client-dynamodb";
import { CreateKeyCommand, DecryptCommand, EncryptCommand, KMSClient } from "@aws-sdk/client-kms";
import { CreateBucketCommand, GetObjectCommand, PutObjectCommand, S3Client } from "@aws-sdk/client-s3";
import { ListScheduleGroupsCommand, SchedulerClient } from "@aws-sdk/client-scheduler";
import { CreateQueueCommand, ReceiveMessageCommand, SendMessageCommand, SQSClient } from "@aws-sdk/client-sqs";
import { afterEach, describe, expect, test } from "vitest";
import { listenOnLoopback } from "../support/loopback.ts";
import { framesOf, paste } from "../support/pasted.ts";
import { cleanUp, newFolder } from "../support/service-process.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const running = new Set<ChildProcess>();

afterEach(async () => {
  for (const child of running) await kill(child);
  await cleanUp();
});

const LAUNCHER = [process.execPath, "local/launch.mjs", "local/start.ts"];

/** The launcher, or npm before it, and what it launched. */
function launch(env: Record<string, string>, [command = "", ...words] = LAUNCHER): ChildProcess {
  const child = spawn(command, words, {
    cwd: root,
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
    env: { PATH: process.env.PATH, PORT: "0", ...env },
  });
  running.add(child);
  child.once("close", () => running.delete(child));
  return child;
}

async function kill(child: ChildProcess, signal: NodeJS.Signals = "SIGKILL"): Promise<number | null> {
  const closed = once(child, "close");
  process.kill(-child.pid!, signal);
  const [code] = await closed;
  return code;
}

/** Waits for the whole page that a start prints. */
async function start(env: Record<string, string>, command = LAUNCHER) {
  const child = launch(env, command);
  let page = "";
  let complaints = "";
  child.stderr!.on("data", (chunk: Buffer) => {
    complaints += chunk;
  });
  for await (const chunk of child.stdout!.iterator({ destroyOnReturn: false })) {
    page += chunk;
    if (page.includes("Stop with")) break;
  }
  child.stdout!.resume();
  expect(page, complaints).toContain("Stop with");
  const fact = (name: string) => new RegExp(`^ {2}${name} +(.*)$`, "m").exec(page)![1]!;
  const [upsert = "", listen = "", send = ""] = page.match(/^ {2}curl .*$/gm)!.map((line) => line.trim());
  return { child, url: fact("service"), fact, page, upsert, listen, send };
}

/** What a refused start says, and its exit code. */
async function refusedStart(env: Record<string, string>) {
  const child = launch(env);
  let said = "";
  for (const stream of [child.stdout!, child.stderr!])
    stream.on("data", (chunk: Buffer) => {
      said += chunk;
    });
  const [code] = await once(child, "close");
  return { code, said: said.trim() };
}

describe("npm start", () => {
  test("npm start prints three lines that work: upsert, stream, send; a kill -9 loses nothing (F5)", async () => {
    const DATA_DIR = newFolder();
    const first = await start({ DATA_DIR });
    expect(await (await fetch(`${first.url}/_local/health`)).json()).toEqual({ status: "ready" });

    const subscriber = (await (await paste(first.upsert)).json()) as { id: string; external_id: string };
    expect(subscriber.external_id).toBe("ada");
    const stream = await paste(first.listen);
    expect(stream.headers.get("content-type")).toContain("text/event-stream");
    const frames = framesOf(stream);
    expect((await frames.next()).value).toMatch(/^retry: /);
    /** The next frame that tells something: others hold the place from which a reader may resume. */
    const nextMessage = async () => {
      for (;;) {
        const { value, done } = await frames.next();
        if (done) throw new Error("The stream has ended.");
        if (value.includes("data: ")) return value;
      }
    };

    const [send = "", settle = "", inbox = ""] = first.send.split(" && ");
    expect((await paste(send)).status).toBe(201);
    const frame = await nextMessage();
    const shown = JSON.parse(/^data: (.*)$/m.exec(frame)?.[1] ?? "") as { title: string };
    expect(shown.title).toBe("Hello Ada");
    expect(await (await paste(settle)).json()).toEqual({ idle: true });
    const { messages } = (await (await paste(inbox)).json()) as { messages: { content: { title: string } }[] };
    expect(messages.map(({ content }) => content.title)).toEqual(["Hello Ada"]);
    await fetch(`${first.url}/_local/clock`, { method: "POST", body: '{"advance":"2d"}' });
    const { now: before } = (await (await fetch(`${first.url}/_local/clock`)).json()) as { now: string };

    await kill(first.child);
    const second = await start({ DATA_DIR });
    for (const name of ["workspace", "owner", "SDK key", "server key"])
      expect(second.fact(name)).toBe(first.fact(name));
    const [, , inboxAgain = ""] = second.send.split(" && ");
    expect(await (await paste(inboxAgain)).json()).toEqual({ messages });
    expect((await paste(second.send.split(" && ")[0]!)).status).toBe(201);
    const { now: after } = (await (await fetch(`${second.url}/_local/clock`)).json()) as { now: string };
    expect(after > before).toBe(true);

    expect(await kill(second.child, "SIGTERM")).toBe(0);
  });

  test("npm start writes the demo's credentials into a file that a shell can read (D-SEED)", async () => {
    const DATA_DIR = newFolder();
    const { fact, url } = await start({ DATA_DIR });
    const file = join(DATA_DIR, "demo.env");
    expect(fact("variables")).toContain(file);
    expect(parseEnv(readFileSync(file, "utf8"))).toEqual({
      BASE_URL: url,
      TENANT_ID: expect.stringMatching(/^[\w-]{36}$/),
      SUBSCRIBER_ID: expect.stringMatching(/^[\w-]{36}$/),
      SDK_KEY: fact("SDK key"),
      SERVER_KEY: fact("server key"),
      AGENT_KEY: fact("agent key"),
      ACCESS_TOKEN: fact("access token"),
    });
    expect(statSync(file).mode & 0o077).toBe(0);
  });

  test("SIGTERM to npm ends npm, the launcher and the service", async () => {
    const { child, url } = await start({ DATA_DIR: ":memory:" }, ["npm", "start"]);
    const closed = once(child, "close");
    child.kill("SIGTERM");
    expect(await closed).toEqual([0, null]);
    await expect(fetch(`${url}/_local/health`)).rejects.toThrow();
  });

  test("a launcher that is killed takes the service with it", async () => {
    const { child, url } = await start({ DATA_DIR: ":memory:" });
    const closed = once(child, "close");
    child.kill("SIGKILL");
    await closed;
    await expect(fetch(`${url}/_local/health`)).rejects.toThrow();
  });

  test("a Node that runs no TypeScript, such as 23.5, is said to be too old where npm ci installed none (F5)", async () => {
    const as = "{versions:{value:{node:'23.5.0'}},arch:{value:'none'}}";
    const options = [
      "--no-experimental-strip-types",
      "--import",
      `data:text/javascript,Object.defineProperties(process,${as})`,
    ];
    const child = launch({}, [process.execPath, ...options, "local/launch.mjs", "--version"]);
    let complaints = "";
    child.stderr!.on("data", (chunk: Buffer) => {
      complaints += chunk;
    });

    expect(await once(child, "close")).toEqual([1, null]);
    expect(complaints).toContain("Node 23.5.0 runs no TypeScript");
  });

  test("in memory it keeps nothing", async () => {
    const folder = newFolder();
    const { child, fact, url } = await start({ DATA_DIR: ":memory:", DEFAULT_PLAN: "starter" });
    expect(fact("workspace")).toContain("plan starter");
    expect((await fetch(`${url}/_local/nothing`)).status).toBe(404);
    expect(await kill(child, "SIGINT")).toBe(0);
    expect(existsSync(join(folder, ":memory:"))).toBe(false);
  });

  test("AWS_PORT mounts the embedded services for clients outside", async () => {
    const { fact } = await start({ DATA_DIR: ":memory:", AWS_PORT: "0" });
    const tables = await fetch(fact("embedded AWS"), {
      method: "POST",
      headers: { "x-amz-target": "DynamoDB_20120810.ListTables", "content-type": "application/x-amz-json-1.0" },
      body: "{}",
    });
    expect(await tables.json()).toEqual({ TableNames: ["engagement"] });
    await askFromOutside(fact("embedded AWS"));
  });
});

/** The SDK's own clients on the port of another process: each service once. */
async function askFromOutside(endpoint: string): Promise<void> {
  const options = { endpoint, region: "us-east-1", credentials: { accessKeyId: "any", secretAccessKey: "any" } };
  const { Items } = await new DynamoDBClient(options).send(new ScanCommand({ TableName: "engagement", Limit: 1 }));
  expect(Items).toHaveLength(1);
  // The client sends to the host of the queue's URL.
  const sqs = new SQSClient(options);
  const { QueueUrl } = await sqs.send(new CreateQueueCommand({ QueueName: "outside" }));
  expect(QueueUrl).toMatch(new RegExp(`^${endpoint}/`));
  await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: "hello" }));
  const { Messages } = await sqs.send(new ReceiveMessageCommand({ QueueUrl }));
  expect(Messages?.[0]?.Body).toBe("hello");
  const kms = new KMSClient(options);
  const { KeyMetadata } = await kms.send(new CreateKeyCommand({}));
  const KeyId = KeyMetadata!.KeyId!;
  const { CiphertextBlob } = await kms.send(new EncryptCommand({ KeyId, Plaintext: Buffer.from("secret") }));
  const { Plaintext } = await kms.send(new DecryptCommand({ CiphertextBlob }));
  expect(Buffer.from(Plaintext!).toString()).toBe("secret");
  const { ScheduleGroups } = await new SchedulerClient(options).send(new ListScheduleGroupsCommand({}));
  expect(ScheduleGroups?.map(({ Name }) => Name)).toContain("default");
  const s3 = new S3Client({ ...options, forcePathStyle: true });
  await s3.send(new CreateBucketCommand({ Bucket: "outside" }));
  await s3.send(new PutObjectCommand({ Bucket: "outside", Key: "k", Body: "text" }));
  const { Body } = await s3.send(new GetObjectCommand({ Bucket: "outside", Key: "k" }));
  expect(await Body!.transformToString()).toBe("text");
}

describe("a start that cannot be is refused in one line", () => {
  const oneLine = async (env: Record<string, string>, words: string) => {
    const { code, said } = await refusedStart(env);
    expect(said).toContain(words);
    expect(said).not.toContain("\n");
    expect(code).toBe(1);
  };

  test("a setting it cannot honour", () => oneLine({ DATA_DIR: ":memory:", PORT: "high" }, 'PORT is "high"'), 30_000);

  test("a busy port", async () => {
    const server = createServer();
    const port = await listenOnLoopback(server);
    await oneLine({ DATA_DIR: ":memory:", PORT: String(port) }, `Port ${port} is in use`);
    server.close();
  });

  test("a data folder that another process uses", async () => {
    const DATA_DIR = newFolder();
    const lock = new DatabaseSync(join(DATA_DIR, "lock"));
    lock.exec("BEGIN EXCLUSIVE");
    await oneLine({ DATA_DIR }, "another process uses it");
    lock.close();
  });

  test("a data file of another program, or none at all", async () => {
    const DATA_DIR = newFolder();
    const foreign = new DatabaseSync(join(DATA_DIR, "service.sqlite"));
    foreign.exec("CREATE TABLE books (title TEXT)");
    foreign.close();
    await oneLine({ DATA_DIR }, "it belongs to another program");
    writeFileSync(join(DATA_DIR, "service.sqlite"), "this is no database at all, and it is long enough to tell");
    await oneLine({ DATA_DIR }, "file is not a database");
    await oneLine({ DATA_DIR: join(DATA_DIR, "service.sqlite") }, "cannot be used");
  });
});

test("who registers invites nobody before the address is confirmed; a workspace of an operator needs none (ACC-4)", async () => {
  const { url } = await start({ DATA_DIR: ":memory:" });
  const ask = async (path: string, body: object, token?: string) => {
    const headers = { "content-type": "application/json", ...(token && { authorization: `Bearer ${token}` }) };
    const answer = await fetch(`${url}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
    return { status: answer.status, body: (await answer.json()) as Record<string, string> };
  };
  const account = { email: "ada@lovelace.example", password: "correct horse battery", name: "Ada" };
  const { body } = await ask("/api/v1/auth/register", { ...account, workspace_name: "Engines" });
  const invitation = { email: "grace@navy.example", role: "viewer" };
  expect((await ask("/api/v1/team/invitations", invitation, body.access_token)).status).toBe(403);
  const { body: made } = await ask("/_local/workspaces", { name: "Made" });
  expect((await ask("/api/v1/team/invitations", invitation, made.access_token)).status).toBe(201);
});
