// The function that writes the files of the edge into their bucket. CloudFormation invokes it at each deployment, as a
// custom resource; it holds the files in its bundle (docs/decisions/0119).
import { brotliDecompressSync } from "node:zlib";
import { DeleteObjectCommand, ListObjectsV2Command, PutObjectCommand, S3Client } from "@aws-sdk/client-s3";
import * as v from "valibot";
import { type Capability, type Deps, NO_TENANT, openAll, setting, type Uses } from "../shared/kernel/deps.ts";

/** The files as a bundle holds them: `content` is base64 of brotli. */
export type PackedSite = readonly { key: string; type: string; cacheControl: string; content: string }[];

interface SiteBucket {
  put(file: { key: string; type: string; cacheControl: string; content: Buffer }): Promise<void>;
  /** The keys of all files, also of earlier deployments. */
  keys(): Promise<string[]>;
  remove(key: string): Promise<void>;
}

const siteWriting: Capability<"site", SiteBucket> = {
  as: "site",
  env: ["SITE_BUCKET"],
  grants: [
    { actions: ["s3:PutObject", "s3:DeleteObject"], on: "site" },
    { actions: ["s3:ListBucket"], on: "site-bucket" },
  ],
  open: (deps) => {
    const client = deps.aws(S3Client);
    const Bucket = setting(deps, "SITE_BUCKET");
    const keys = async (after?: string): Promise<string[]> => {
      const { Contents = [], NextContinuationToken } = await client.send(
        new ListObjectsV2Command({ Bucket, ContinuationToken: after }),
      );
      const found = Contents.map(({ Key = "" }) => Key);
      return NextContinuationToken ? [...found, ...(await keys(NextContinuationToken))] : found;
    };
    const bucket: SiteBucket = {
      put: async ({ key, type, cacheControl, content }) => {
        const headers = { ContentType: type, CacheControl: cacheControl };
        await client.send(new PutObjectCommand({ Bucket, Key: key, Body: content, ...headers }));
      },
      keys: () => keys(),
      remove: async (key) => {
        await client.send(new DeleteObjectCommand({ Bucket, Key: key }));
      },
    };
    return () => bucket;
  },
};

/** The request of CloudFormation, and the address to which it wants the answer. */
const SiteEvent = v.object({
  RequestType: v.picklist(["Create", "Update", "Delete"]),
  ResponseURL: v.pipe(v.string(), v.url()),
  StackId: v.string(),
  RequestId: v.string(),
  LogicalResourceId: v.string(),
});

/** The same at every deployment, so that an update never deletes what it replaced. */
const PHYSICAL_ID = "site";

const uses = [siteWriting] as const satisfies Uses;

type Outcome = { Status: "SUCCESS" } | { Status: "FAILED"; Reason: string };

export const publishSite = {
  name: "publish-site",
  about: "Writes the console's files and the documentation into their bucket, at each deployment.",
  input: SiteEvent,
  uses,
  /**
   * Files of earlier deployments stay: a page that is open, or kept by a browser, still loads them. With the stack all
   * go, for a bucket is deleted only when it is empty.
   * @throws if CloudFormation cannot be told
   */
  create: (deps: Deps, packed: PackedSite) => {
    const bind = openAll(uses, deps);
    return async (event: unknown): Promise<void> => {
      const { RequestType, ResponseURL, ...request } = v.parse(SiteEvent, event);
      const { site } = bind(NO_TENANT);
      const outcome = await outcomeOf(RequestType === "Delete" ? empty(site) : write(site, packed));
      if (outcome.Status === "FAILED")
        deps.log({ level: "error", message: "The files of the edge could not be changed.", reason: outcome.Reason });
      // The body is bytes: `fetch` adds a content type to a text, which would break the signature of the address.
      const body = Buffer.from(JSON.stringify({ ...request, PhysicalResourceId: PHYSICAL_ID, ...outcome }));
      const answer = await fetch(ResponseURL, { method: "PUT", body });
      if (!answer.ok) throw new Error(`CloudFormation could not be told: ${answer.status}.`);
    };
  },
};

/** Documents come after the hashed files that they name, so that no page asks for one that is not there yet. */
async function write(site: SiteBucket, packed: PackedSite): Promise<void> {
  const put = ({ content, ...file }: PackedSite[number]) =>
    site.put({ ...file, content: brotliDecompressSync(Buffer.from(content, "base64")) });
  const isHashed = ({ cacheControl }: PackedSite[number]) => cacheControl.includes("immutable");
  await Promise.all(packed.filter(isHashed).map(put));
  await Promise.all(packed.filter((file) => !isHashed(file)).map(put));
}

async function empty(site: SiteBucket): Promise<void> {
  await Promise.all((await site.keys()).map((key) => site.remove(key)));
}

/** A failure is told to CloudFormation, which would wait for an answer otherwise. */
const outcomeOf = (work: Promise<void>): Promise<Outcome> =>
  work.then(
    () => ({ Status: "SUCCESS" }),
    (error: unknown) => ({ Status: "FAILED", Reason: String(error) }),
  );
