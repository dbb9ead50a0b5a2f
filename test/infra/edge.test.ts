// docs/edge.md, line by line, on the synthesized template; a line without an assertion fails.
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { buildConsole, letters } from "../../console/build.ts";
import { consolePolicy, HASHED_PATH } from "../../console/policy.ts";
import { pagePolicy } from "../../docs/site/page.ts";
import { contents, deployedFunctions } from "../../infra/functions.ts";
import { logicalIdOf } from "../../infra/names.ts";
import { siteFiles } from "../../infra/site-files.ts";
import { routesOf } from "../../shared/http/endpoint.ts";
import { answerUnknown } from "../../shared/http/fallback.ts";
import { assetWriting } from "../../shared/store/files/assets.ts";
import {
  ASSETS,
  accessTo,
  api,
  assets,
  atTheEdge,
  behaviourFor,
  behaviours,
  edge,
  fileAtTheEdge,
  functionOrigins,
  headersOf,
  one,
  originOf,
  signedFor,
  template,
  withDomain,
} from "./support/edge.ts";
import { ofType, standardContents, synthesize, type Template, textOf, whole } from "./support/template.ts";

const STREAM = "/v1/in-app/stream";
const OPEN_FILES = ["/console/a/*", "/docs", "/docs/*", "/openapi.json"];
const LETTERS = letters().map(({ path }) => path);
const PAGES = ["/console", "/console/*"];
const FILES = [...OPEN_FILES, ...LETTERS, ...PAGES];
const lines: Record<string, () => void | Promise<void>> = {
  E1: () => {
    expect(edge().CacheBehaviors.map(({ PathPattern }: { PathPattern: string }) => PathPattern)).toEqual([
      STREAM,
      ASSETS,
      ...FILES,
    ]);
    expect(contents.stream.endpoint.route).toBe(`GET ${STREAM}`);
    expect(textOf(originOf(edge().DefaultCacheBehavior).DomainName)).toMatch(/^<Api>\.execute-api\./);
    expect(textOf(originOf(edge().CacheBehaviors[0]).DomainName)).toMatch(/StreamFunctionUrl\w+\.FunctionUrl/);
    expect(textOf(originOf(assets()).DomainName)).toMatch(/^<Assets\w+\.RegionalDomainName>$/);
    expect(textOf(originOf(behaviourOf("/console")).DomainName)).toMatch(/^<Site\w+\.RegionalDomainName>$/);
  },
  E2: () => {
    for (const { ViewerProtocolPolicy } of [...behaviours(), assets()]) expect(ViewerProtocolPolicy).toBe("https-only");
    for (const { CustomOriginConfig } of functionOrigins()) {
      expect(CustomOriginConfig.OriginProtocolPolicy).toBe("https-only");
      expect(CustomOriginConfig.OriginSSLProtocols).toEqual(["TLSv1.2"]);
    }
  },
  E3: () => {
    const { DistributionConfig } = one("AWS::CloudFront::Distribution", withDomain());
    expect(DistributionConfig.Aliases).toEqual(["api.example.com"]);
    expect(DistributionConfig.ViewerCertificate).toMatchObject({
      AcmCertificateArn: "arn:aws:acm:us-east-1:1:certificate/x",
      MinimumProtocolVersion: "TLSv1.2_2021",
    });
    expect(edge().Aliases).toBeUndefined();
  },
  E4: () => {
    const cachingDisabled = "4135ea2d-6df8-44a3-9df3-4b5a84be39ad";
    for (const { CachePolicyId } of behaviours()) expect(CachePolicyId).toBe(cachingDisabled);
  },
  E5: () => {
    const kept = [400, 403, 404, 405, 414, 416, 500, 501, 502, 503, 504];
    expect(edge().CustomErrorResponses).toEqual(kept.map((ErrorCode) => ({ ErrorCachingMinTTL: 0, ErrorCode })));
  },
  E6: () => {
    for (const { Compress } of [...behaviours(), assets()]) expect(Compress).toBe(false);
  },
  E7: () => {
    const allViewerExceptHostHeader = "b689b0a8-53d0-40ab-baf2-68738e2966ac";
    for (const { OriginRequestPolicyId } of behaviours()) expect(OriginRequestPolicyId).toBe(allViewerExceptHostHeader);
  },
  E8: () => {
    for (const behaviour of behaviours())
      expect(behaviour.FunctionAssociations).toMatchObject([{ EventType: "viewer-request" }]);
    for (const uri of ["/api/v1/auth/login", STREAM])
      expect(atTheEdge("GET", uri, { "x-viewer-ip": "203.0.113.1" }).headers["x-viewer-ip"]).toBe("198.51.100.7");
  },
  E9: () => {
    expect(originOf(assets()).OriginCustomHeaders).toBeUndefined();
    const sent = functionOrigins().map(
      ({ OriginCustomHeaders: [header] }: { OriginCustomHeaders: { HeaderValue: object }[] }) => header,
    );
    const secret = sent[0]?.HeaderValue;
    expect(sent).toEqual(sent.map(() => ({ HeaderName: "x-origin-secret", HeaderValue: secret })));
    expect(textOf(secret)).toMatch(/^<EncryptionKey\w+>-select\(2,split\(\/,<AWS::StackId>\)\)$/);
    for (const { name, kind } of deployedFunctions(standardContents)) {
      const { Variables = {} } = template.Resources[logicalIdOf(name)]!.Properties.Environment ?? {};
      expect(Variables.ORIGIN_SECRET).toEqual(kind === "api" || kind === "stream" ? secret : undefined);
    }
  },
  E10: () => {
    const presented = { authorization: "Bearer token", "x-viewer-authorization": "Bearer forged" };
    expect(atTheEdge("GET", STREAM, presented).headers["x-viewer-authorization"]).toBe("Bearer token");
    const { authorization: _, ...forged } = presented;
    expect(atTheEdge("GET", STREAM, forged).headers).not.toHaveProperty("x-viewer-authorization");
    expect(atTheEdge("GET", "/v1/in-app/inbox", presented).headers).toMatchObject({ authorization: "Bearer token" });
    expect(atTheEdge("GET", "/v1/in-app/inbox", presented).headers).not.toHaveProperty("x-viewer-authorization");
  },
  E11: async () => {
    const { statusCode, headers } = atTheEdge("OPTIONS", STREAM);
    const known = [{ route: contents.stream.endpoint.route, credentials: contents.stream.endpoint.access.credentials }];
    const fallback = answerUnknown(known, { ids: { uuid: () => "id" } as never, log: () => undefined });
    const requestContext = { requestId: "id", http: { method: "OPTIONS", path: STREAM } };
    const answer = await fallback({ requestContext } as never, {} as never);
    expect(statusCode).toBe(answer.statusCode);
    expect(answer.headers).toMatchObject(headers);
    expect(headers["access-control-allow-methods"]).toBe("GET");
    expect(atTheEdge("OPTIONS", "/v1/subscribers").statusCode).toBeUndefined();
    expect(edge().CacheBehaviors[0].AllowedMethods).toContain("OPTIONS");
  },
  E12: () => {
    expect(one("AWS::ApiGatewayV2::Api").CorsConfiguration).toBeUndefined();
    expect(api()).not.toHaveProperty("x-amazon-apigateway-cors");
    expect(api().paths["/$default"]["x-amazon-apigateway-any-method"]).toMatchObject({
      isDefaultRoute: true,
      "x-amazon-apigateway-integration": { $ref: "#/components/x-amazon-apigateway-integrations/fallback" },
    });
  },
  E13: () => {
    expect(one("AWS::Lambda::Url").AuthType).toBe("AWS_IAM");
    const [id] = ofType(template, "AWS::CloudFront::Distribution")[0]!;
    const ours = ofType(template, "AWS::Lambda::Permission").filter(
      ([, { Properties }]) => Properties.Principal === "cloudfront.amazonaws.com",
    );
    expect(ours.map(([, { Properties }]) => Properties.Action).sort()).toEqual([
      "lambda:InvokeFunction",
      "lambda:InvokeFunctionUrl",
    ]);
    for (const [, { Properties }] of ours)
      expect(textOf(Properties.SourceArn)).toBe(
        `arn:<AWS::Partition>:cloudfront::<AWS::AccountId>:distribution/<${id}>`,
      );
    expect(accessTo(edge().CacheBehaviors[0])).toEqual(signedFor("lambda"));
  },
  E14: () => {
    const { "/$default": _, ...paths } = api().paths as Record<
      string,
      Record<string, Record<string, { $ref: string }>>
    >;
    const imported = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(
        ([method, operation]) =>
          `${method.toUpperCase()} ${path} → ${operation["x-amazon-apigateway-integration"]!.$ref.split("/").at(-1)}`,
      ),
    );
    const declared = contents.groups.flatMap((group) =>
      routesOf(group).map(({ routeKey }) => `${routeKey} → api-${group.name}`),
    );
    expect(imported.sort()).toEqual(declared.sort());
    expect(declared).toContain("HEAD /healthz → api-service");
    // The quota of an API: a deployment beyond it fails.
    expect(declared.length + 1).toBeLessThanOrEqual(300);
    for (const [name, integration] of Object.entries(api().components["x-amazon-apigateway-integrations"])) {
      expect(integration).toMatchObject({ type: "aws_proxy", httpMethod: "POST", payloadFormatVersion: "2.0" });
      expect(textOf((integration as { uri: unknown }).uri)).toContain(`:function:Engagement-${name}/invocations`);
      expect(template.Resources[`${logicalIdOf(name)}Invoke`]!.Properties).toMatchObject({
        Action: "lambda:InvokeFunction",
        Principal: "apigateway.amazonaws.com",
      });
    }
    expect(one("AWS::ApiGatewayV2::Stage")).toMatchObject({ StageName: "$default", AutoDeploy: true });
  },
  E15: () => {
    for (const integration of Object.values(api().components["x-amazon-apigateway-integrations"]))
      expect(integration).toMatchObject({ timeoutInMillis: 30_000 });
    for (const { kind, timeoutSeconds } of deployedFunctions(contents))
      if (kind === "api" || kind === "fallback") expect(timeoutSeconds).toBe(29);
  },
  E16: () => {
    for (const { CustomOriginConfig } of functionOrigins()) expect(CustomOriginConfig.OriginReadTimeout).toBe(60);
    expect(template.Resources.Stream!.Properties.Timeout).toBe(120);
  },
  E17: () => {
    expect(one("AWS::Lambda::Url").InvokeMode).toBe("RESPONSE_STREAM");
    expect(template.Resources.Stream!.Properties.MemorySize).toBe(128);
    expect(template.Resources.Stream!.Properties.ReservedConcurrentExecutions).toBeUndefined();
  },
  E18: () => {
    const fields = JSON.parse(one("AWS::ApiGatewayV2::Stage").AccessLogSettings.Format);
    expect(Object.keys(fields).sort()).toEqual(["error", "integration_error", "ms", "request_id", "route", "status"]);
    expect(JSON.stringify(fields)).not.toMatch(/path|query|sourceIp|header|authorizer/i);
    expect(edge().Logging).toBeUndefined();
  },
  E19: () => {
    const issuerIn = ({ Resources }: Template) =>
      textOf(Resources.ApiAuth!.Properties.Environment.Variables.TOKEN_ISSUER);
    expect(issuerIn(template)).toBe("https://<Api>.execute-api.<AWS::Region>.<AWS::URLSuffix>");
    expect(issuerIn(withDomain())).toBe("https://api.example.com");
    const jwks = { keys: [{ kid: "theirs", n: "AQAB", kty: "RSA", e: "AQAB", alg: "RS256", use: "sig" }] };
    const tokenIssuer = { issuer: "https://issuer.example", audience: "clients", jwks };
    const { Resources } = synthesize({ context: { tokenIssuer } });
    for (const id of ["ApiTemplates", "ApiAuth", "Stream"])
      expect(Resources[id]!.Properties.Environment.Variables).toMatchObject({
        TOKEN_ISSUER: "https://issuer.example",
        TOKEN_AUDIENCE: "clients",
        TOKEN_JWKS: JSON.stringify(jwks),
      });
    const x5c = ["M".repeat(1_600)];
    const keys = ["one", "two", "three"].map((kid) => ({ ...jwks.keys[0], kid, n: "n".repeat(342), x5c }));
    const large = synthesize({
      context: { tokenIssuer: { ...tokenIssuer, jwks: { keys } }, stackName: "E".repeat(40) },
    });
    const bytes = ofType(large, "AWS::Lambda::Function").map(
      ([, { Properties }]) => JSON.stringify(Properties.Environment ?? {}).length,
    );
    expect(Math.max(...bytes)).toBeLessThan(4_096);
    expect(template.Resources.ApiAuth!.Properties.Environment.Variables).not.toHaveProperty("TOKEN_JWKS");
  },
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
  E27: () => {
    const demanded = (of: Template) => of.Resources.ApiAuth!.Properties.Environment.Variables.EDGE_ONLY;
    expect([demanded(template), demanded(whole())]).toEqual([undefined, "1"]);
    for (const { name, kind } of deployedFunctions(contents))
      if (kind === "api") {
        const { Variables } = whole().Resources[logicalIdOf(name)]!.Properties.Environment;
        expect([name, Variables.EDGE_ONLY]).toEqual([name, "1"]);
      }
  },
  E28: () => {
    const page = { accept: "text/html,application/xhtml+xml,*/*;q=0.8" };
    for (const method of ["GET", "HEAD"])
      expect(atTheEdge(method, "/", page)).toMatchObject({
        statusCode: 302,
        headers: { location: "/console", "cache-control": "no-store", vary: "accept" },
      });
    expect(atTheEdge("POST", "/", page).statusCode).toBeUndefined();
    for (const headers of [{}, { accept: "*/*" }, { accept: "application/json" }])
      expect(atTheEdge("GET", "/", headers).statusCode).toBeUndefined();
    expect(atTheEdge("GET", "/index.html", page).statusCode).toBeUndefined();
    expect(template.Resources.Fallback!.Properties.Environment?.Variables ?? {}).not.toHaveProperty("IMPORTS_BUCKET");
  },
};

const behaviourOf = (path: string) =>
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

const page = readFileSync(new URL("../../docs/edge.md", import.meta.url), "utf8");
const written = [...page.matchAll(/^\| (E\d+) \| \w+ \| (.+) \|$/gm)].map(([, id, line]) => [id!, line!] as const);

it.each(written)("%s %s", async (id) => {
  expect(lines).toHaveProperty(id);
  await lines[id]!();
});

it("asserts no line that is not written", () => {
  expect(Object.keys(lines)).toEqual(written.map(([id]) => id));
});
