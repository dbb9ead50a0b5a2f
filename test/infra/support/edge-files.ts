// The lines of docs/edge.md about what CloudFront reads from a bucket: uploaded images, the console, the documentation.
import { expect } from "vitest";
import { buildConsole, letters } from "../../../console/build.ts";
import { consolePolicy, HASHED_PATH } from "../../../console/policy.ts";
import { pagePolicy } from "../../../docs/site/page.ts";
import { siteFiles } from "../../../infra/site-files.ts";
import { assetWriting } from "../../../shared/store/files/assets.ts";
import {
  accessTo,
  api,
  assets,
  atTheEdge,
  behaviourFor,
  edge,
  fileAtTheEdge,
  headersOf,
  one,
  originOf,
  signedFor,
  template,
} from "./edge.ts";
import { ofType, textOf } from "./template.ts";

const OPEN_FILES = ["/console/a/*", "/docs", "/docs/*", "/openapi.json"];
const LETTERS = letters().map(({ path }) => path);
const PAGES = ["/console", "/console/*"];
/** The paths that are files, in the order of their behaviours. */
export const FILES = [...OPEN_FILES, ...LETTERS, ...PAGES];

/** Line → what it says, asserted. */
export const fileLines: Record<string, () => void | Promise<void>> = {
  E20: () => {
    expect(accessTo(assets())).toEqual(signedFor("s3"));
    const [bucket] = ofType(template, "AWS::S3::Bucket").find(([id]) => id.startsWith("Assets"))!;
    const [distribution] = ofType(template, "AWS::CloudFront::Distribution")[0]!;
    const policy = ofType(template, "AWS::S3::BucketPolicy").find(
      ([, { Properties }]) => Properties.Bucket.Ref === bucket,
    )![1].Properties.PolicyDocument;
    const allowed = policy.Statement.filter(({ Effect }: { Effect: string }) => Effect === "Allow");
    expect(allowed).toHaveLength(1);
    const [{ Action, Principal, Resource, Condition }] = allowed;
    expect([Action, Principal]).toEqual([["s3:GetObject", "s3:ListBucket"], { Service: "cloudfront.amazonaws.com" }]);
    expect(Resource.map(textOf)).toEqual([`<${bucket}.Arn>/*`, `<${bucket}.Arn>`]);
    expect(textOf(Condition.StringEquals["AWS:SourceArn"])).toBe(
      `arn:<AWS::Partition>:cloudfront::<AWS::AccountId>:distribution/<${distribution}>`,
    );
    expect(assets().AllowedMethods).toEqual(["GET", "HEAD"]);
    expect(assets().OriginRequestPolicyId).toBeUndefined();
  },
  E21: async () => {
    const { CachePolicyConfig } = one("AWS::CloudFront::CachePolicy");
    expect(CachePolicyConfig).toMatchObject({ MinTTL: 0, DefaultTTL: 60, MaxTTL: 60 });
    expect(CachePolicyConfig.ParametersInCacheKeyAndForwardedToOrigin).toMatchObject({
      CookiesConfig: { CookieBehavior: "none" },
      HeadersConfig: { HeaderBehavior: "none" },
      QueryStringsConfig: { QueryStringBehavior: "none" },
    });
    const [policy] = ofType(template, "AWS::CloudFront::CachePolicy")[0]!;
    expect(assets().CachePolicyId).toEqual({ Ref: policy });
    const puts: { input: Record<string, unknown> }[] = [];
    const client = { send: async (command: (typeof puts)[number]) => void puts.push(command) };
    const deps = { aws: () => client, env: { ASSETS_BUCKET: "box", BASE_URL: "https://api.example.com" } };
    const files = assetWriting.open(deps as never)("" as never);
    await files.put("x.png", Buffer.from("x"), "image/png");
    expect(puts[0]!.input).toMatchObject({
      Key: "assets/x.png",
      ContentType: "image/png",
      CacheControl: "public, max-age=60, immutable",
    });
    expect(files.urlOf("x.png")).toBe("https://api.example.com/assets/x.png");
  },
  E22: () => {
    const { SecurityHeadersConfig, CustomHeadersConfig } = headersOf(assets());
    expect(SecurityHeadersConfig).toMatchObject({
      ContentTypeOptions: { Override: true },
      ContentSecurityPolicy: { ContentSecurityPolicy: "default-src 'none'; sandbox", Override: true },
    });
    expect(CustomHeadersConfig.Items).toEqual([
      { Header: "cross-origin-resource-policy", Value: "cross-origin", Override: true },
    ]);
  },
  E23: () => {
    expect(HASHED_PATH).toBe("/console/a/");
    isFileOfSite("/console/a/*");
  },
  E24: async () => {
    for (const path of [...LETTERS, ...PAGES]) isFileOfSite(path);
    const [files, built] = [await siteFiles(), await buildConsole()];
    const { content, headers } = fileAtTheEdge(files, "/console/w/7c1/people/9f2")!;
    expect([headers["cache-control"], headers["content-type"]]).toEqual(["no-cache", "text/html; charset=utf-8"]);
    const uploads = headers["content-security-policy"]!.match(/<Imports\w+\.RegionalDomainName>/)![0];
    expect(headers["content-security-policy"]).toBe(consolePolicy(`https://${uploads}`));
    for (const path of LETTERS) expect(fileAtTheEdge(files, path)!.headers).toEqual({ ...built.get(path)!.headers });
    const body = content.toString();
    expect(body).not.toMatch(/<script(?![^>]* src=)|<style|style=|onclick/);
    const loaded = [...body.matchAll(/(?:src|href)="(\/console\/a\/[^"]+)"/g)].map(([, path]) => path!);
    expect(loaded.length).toBeGreaterThan(3);
    for (const path of loaded) expect(fileAtTheEdge(files, path)!.headers["cache-control"]).toContain("immutable");
    expect(fileAtTheEdge(files, "/console")!.content).toEqual(content);
    expect(fileAtTheEdge(files, "/console/icon.svg")!.headers["content-type"]).toBe("image/svg+xml");
    expect(fileAtTheEdge(files, "/console/a/none.js")).toBeUndefined();
    expect(behaviourFor("/consoles")).toBe(edge().DefaultCacheBehavior);
  },
  E25: () => {
    for (const behaviour of [edge().DefaultCacheBehavior, ...edge().CacheBehaviors]) {
      const isConsole = [...LETTERS, ...PAGES].includes(behaviour.PathPattern);
      expect(headersOf(behaviour).SecurityHeadersConfig).toMatchObject({
        StrictTransportSecurity: { AccessControlMaxAgeSec: 31_536_000, Override: true },
        ReferrerPolicy: isConsole
          ? { ReferrerPolicy: "same-origin", Override: true }
          : { ReferrerPolicy: "no-referrer", Override: false },
      });
    }
    const preflight = atTheEdge("OPTIONS", "/v1/in-app/stream");
    for (const { headers } of [preflight, atTheEdge("GET", "/", { accept: "text/html" })])
      expect(headers).toMatchObject({
        "strict-transport-security": "max-age=31536000",
        "referrer-policy": "no-referrer",
      });
  },
  E26: () => {
    for (const path of OPEN_FILES) isFileOfSite(path);
    const { SecurityHeadersConfig, CorsConfig } = headersOf(behaviourOf("/docs"));
    expect(SecurityHeadersConfig).toMatchObject({
      ContentTypeOptions: { Override: true },
      ContentSecurityPolicy: { ContentSecurityPolicy: pagePolicy, Override: true },
    });
    expect(CorsConfig.AccessControlAllowOrigins.Items).toEqual(["*"]);
    expect(Object.keys(api().paths).filter((path) => path.startsWith("/docs") || path.includes("openapi"))).toEqual([]);
  },
};

/** The behaviour with just this pattern. */
export const behaviourOf = (path: string) =>
  edge().CacheBehaviors.find(({ PathPattern }: { PathPattern: string }) => PathPattern === path);

/** By path alone, compressed, for reading only, from the bucket that a deployment fills. */
function isFileOfSite(path: string): void {
  const behaviour = behaviourOf(path);
  const cachingOptimized = "658327ea-f89d-4fab-a63d-7e88639e58f6";
  expect(behaviour).toMatchObject({ CachePolicyId: cachingOptimized, Compress: true, AllowedMethods: ["GET", "HEAD"] });
  expect(behaviour.OriginRequestPolicyId).toBeUndefined();
  expect(behaviour.ViewerProtocolPolicy).toBe("https-only");
  expect(originOf(behaviour).OriginCustomHeaders).toBeUndefined();
  expect(accessTo(behaviour)).toEqual(signedFor("s3"));
}
