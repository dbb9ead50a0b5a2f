// The embedded S3: buckets, objects, multipart uploads and signatures, stored in the shared data file.
import * as errors from "./s3/errors.ts";
import { multipartOperations } from "./s3/multipart.ts";
import { objectOperations, placeOf } from "./s3/objects.ts";
import { readForm, readUpload } from "./s3/post-policy.ts";
import { isFormUpload, locate, queryOf, readRequest } from "./s3/requests.ts";
import { document, refuse, respond } from "./s3/responses.ts";
import { authenticate, type Keys } from "./s3/signatures.ts";
import { openS3Storage, type S3Storage } from "./s3/storage.ts";
import {
  type AwsRequest,
  type AwsResponse,
  awsFailure,
  type Deps,
  isAwsFailure,
  type StandIn,
  unknownOperation,
  type Wire,
} from "./stand-in.ts";

/** Runs an operation, through the hooks that count calls or inject faults. */
type Run = (operation: string, input: Wire) => Promise<Wire>;

export interface S3 extends StandIn {
  /** Whether a request that matches no other service is one for S3. */
  claims(request: AwsRequest): boolean;
  /** Handles a request of the REST-XML protocol, including errors. */
  handle(request: AwsRequest, run?: Run): Promise<AwsResponse>;
  /** The same for a request without a signature, of a caller that has been let in otherwise (CloudFront). */
  handleTrusted(request: AwsRequest): Promise<AwsResponse>;
  meter(): { requests: number };
  resetMeter(): void;
}

/** The access key that the local service's own clients use, and sign URLs with. */
const LOCAL_KEYS: Keys = new Map([["local", "local"]]);
export const BUCKET_NAME = /^(?!xn--)(?!\d+\.\d+\.\d+\.\d+$)[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;

export function createS3(deps: Deps & { keys?: Keys }): S3 {
  const { clock, database, keys = LOCAL_KEYS } = deps;
  const storage = openS3Storage(database);
  let requests = 0;

  const operations: Record<string, (input: Wire) => Wire> = {
    ...objectOperations(storage, deps),
    ...multipartOperations(storage, deps),
    ...tagOperations(storage),
    ListBuckets: () => ({
      Buckets: storage
        .buckets()
        .map(({ name, created }) => ({ Name: name, CreationDate: new Date(created).toISOString() })),
    }),
    CreateBucket: ({ Bucket }) => {
      const name = String(Bucket);
      if (!BUCKET_NAME.test(name)) throw awsFailure("InvalidBucketName", "The specified bucket is not valid.");
      storage.addBucket(name, clock.now());
      return { Location: `/${name}` };
    },
  };

  const operate: Run = async (name, input) => {
    requests++;
    const operation = operations[name];
    if (!operation) throw unknownOperation(name);
    return storage.transaction(() => operation(input));
  };

  /** A browser's form, authorized by its signed policy. */
  const upload = async (request: AwsRequest, body: Buffer, run: Run): Promise<AwsResponse> => {
    const bucket = locate(request).bucket ?? "";
    const form = readForm(request.headers["content-type"] ?? "", body);
    const { input, status } = readUpload(form, bucket, keys, clock.now());
    const { ETag } = await run("PutObject", input);
    const Location = `/${bucket}/${encodeURIComponent(String(input.Key))}`;
    if (status !== 201) return { status, headers: { etag: String(ETag), location: Location }, body: "" };
    return document(status, "PostResponse", { Location, Bucket: bucket, Key: String(input.Key), ETag: String(ETag) });
  };

  const answering = async ({ method }: AwsRequest, work: () => Promise<AwsResponse>): Promise<AwsResponse> => {
    try {
      return await work();
    } catch (error) {
      if (isAwsFailure(error)) return refuse(error, method);
      throw error;
    }
  };

  const answer = async (request: AwsRequest, body: Buffer, run: Run): Promise<AwsResponse> => {
    const { operation, input } = readRequest(request, body);
    return respond(operation, input, await run(operation, input));
  };

  return {
    operate,
    claims: (request) => {
      const { authorization = "" } = request.headers;
      const credential = /Credential=([^,\s]+)/.exec(authorization)?.[1] ?? "";
      const inQuery = queryOf(request).some(
        ([name, value]) => (name === "X-Amz-Credential" && value.includes("/s3/")) || name === "AWSAccessKeyId",
      );
      return credential.includes("/s3/") || inQuery || isFormUpload(request);
    },
    handle: (request, run = operate) =>
      answering(request, async () => {
        const body = await bytesOf(request.body);
        if (isFormUpload(request)) return upload(request, body, run);
        authenticate({ ...request, query: queryOf(request) }, keys, clock.now());
        return answer(request, body, run);
      }),
    handleTrusted: (request) => answering(request, async () => answer(request, await bytesOf(request.body), operate)),
    meter: () => ({ requests }),
    resetMeter: () => {
      requests = 0;
    },
  };
}

/** The SDK passes text, bytes or a stream. */
async function bytesOf(body: unknown): Promise<Buffer> {
  if (body === undefined || body === null) return Buffer.alloc(0);
  if (typeof body === "string" || body instanceof Uint8Array) return Buffer.from(body as string);
  const chunks: Uint8Array[] = [];
  for await (const chunk of body as AsyncIterable<Uint8Array | string>) chunks.push(Buffer.from(chunk as string));
  return Buffer.concat(chunks);
}

function tagOperations(storage: S3Storage): Record<string, (input: Wire) => Wire> {
  return {
    GetObjectTagging: (input) => {
      const { bucket, key } = placeOf(storage, input);
      const object = storage.object(bucket, key);
      if (!object) throw errors.noSuchKey({ Key: key });
      return { TagSet: Object.entries(object.about.tags ?? {}).map(([Key, Value]) => ({ Key, Value })) };
    },
  };
}
