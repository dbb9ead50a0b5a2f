// The files of the edge in their bucket: written at a deployment, told to CloudFormation, gone with the stack.
import { createServer, type IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { ListObjectsV2Command, S3Client } from "@aws-sdk/client-s3";
import { afterAll, expect, it } from "vitest";
import { publishSite } from "../../infra/publish-site.ts";
import { packSite, siteFiles } from "../../infra/site-files.ts";
import { listenOnLoopback } from "../support/loopback.ts";
import { testWorld } from "../support/world.ts";
import { deployed, ofType, textOf, whole } from "./support/template.ts";

/** What CloudFormation was told, and with which type of content. */
const told: { body: Record<string, string>; type: string | undefined; method: string | undefined }[] = [];
const cloudFormation = createServer(async (request: IncomingMessage, response) => {
  const { method, headers } = request;
  told.push({ body: JSON.parse(await text(request)), type: headers["content-type"], method });
  response.statusCode = request.url === "/gone" ? 403 : 200;
  response.end();
});
const port = await listenOnLoopback(cloudFormation);
afterAll(() => void cloudFormation.close());

const world = await testWorld();
const Bucket = world.env.SITE_BUCKET!;
const eventOf = (RequestType: string, path = "/") => ({
  RequestType,
  ResponseURL: `http://127.0.0.1:${port}${path}`,
  StackId: "stack",
  RequestId: "request",
  LogicalResourceId: "SiteFiles",
});
const s3 = world.depsFor("test").aws(S3Client);
const keys = async () => {
  const { Contents = [] } = await s3.send(new ListObjectsV2Command({ Bucket }));
  return Contents.map(({ Key }) => Key);
};
const packed = packSite(await siteFiles());
const publisher = publishSite.create(world.depsFor(publishSite.name), packed);
const answer = { StackId: "stack", RequestId: "request", LogicalResourceId: "SiteFiles", PhysicalResourceId: "site" };

it("a deployment writes the documentation and the console, with type and caching (E23, E24, E26)", async () => {
  await publisher(eventOf("Create"));
  expect(told.at(-1)).toEqual({ body: { ...answer, Status: "SUCCESS" }, type: undefined, method: "PUT" });
  const files = await siteFiles();
  expect((await keys()).sort()).toEqual([...files.keys()].map((path) => path.slice(1)).sort());
  for (const [path, { content, type, cacheControl }] of files) {
    const found = await world.s3.operate("GetObject", { Bucket, Key: path.slice(1) });
    expect([path, found.ContentType, found.CacheControl]).toEqual([path, type, cacheControl]);
    expect(Buffer.from(found.Body as Uint8Array).equals(content)).toBe(true);
  }
  expect([...files.keys()].filter((path) => path.startsWith("/console/a/")).length).toBeGreaterThan(10);
});

it("a document is written after the hashed files that it names, so that none is missing to whoever loads it (E24)", async () => {
  const order: string[] = [];
  const s3Client = { send: async ({ input }: { input: { Key: string } }) => void order.push(input.Key) };
  const deps = world.depsFor(publishSite.name);
  await publishSite.create({ ...deps, aws: () => s3Client as never }, packed)(eventOf("Update"));
  const isHashed = order.map((key) => packed.find((file) => file.key === key)!.cacheControl.includes("immutable"));
  expect(isHashed).toEqual([...isHashed].sort().reverse());
  expect(new Set(isHashed).size).toBe(2);
});

it("files of an earlier deployment stay for pages that are open, and all go with the stack", async () => {
  await world.s3.operate("PutObject", { Bucket, Key: "console/a/earlier.js", Body: Buffer.from("1") });
  await publisher(eventOf("Update"));
  expect(await keys()).toContain("console/a/earlier.js");
  await publisher(eventOf("Delete"));
  expect(await keys()).toEqual([]);
  expect(told.at(-1)!.body).toEqual({ ...answer, Status: "SUCCESS" });
});

it("what fails is told, so that a deployment ends; an answer that nobody takes fails the function", async () => {
  const deps = world.depsFor(publishSite.name);
  const lost = publishSite.create({ ...deps, env: { ...deps.env, SITE_BUCKET: "none" } }, packed);
  await lost(eventOf("Update"));
  expect(told.at(-1)!.body).toMatchObject({
    ...answer,
    Status: "FAILED",
    Reason: expect.stringContaining("NoSuchBucket"),
  });
  await expect(publisher(eventOf("Delete", "/gone"))).rejects.toThrow("CloudFormation could not be told: 403.");
});

it("the template has the files written before the edge looks for them, when the function changes, in a bucket that goes with the stack", () => {
  for (const template of [deployed(), whole()]) {
    const [[id, files] = []] = ofType(template, "AWS::CloudFormation::CustomResource");
    expect(textOf(files!.Properties.ServiceToken)).toBe("<PublishSite.Arn>");
    expect(files!.Properties).toHaveProperty("Files");
    const [[, distribution] = []] = ofType(template, "AWS::CloudFront::Distribution");
    expect(distribution!.DependsOn).toContain(id);
    const [, bucket] = ofType(template, "AWS::S3::Bucket").find(([name]) => name.startsWith("Site"))!;
    expect(bucket.DeletionPolicy).toBe("Delete");
  }
});
