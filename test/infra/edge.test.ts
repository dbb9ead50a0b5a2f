// docs/edge.md, line by line, on the synthesized template; a line without an assertion fails.
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { contents, deployedFunctions } from "../../infra/functions.ts";
import { logicalIdOf } from "../../infra/names.ts";
import { routesOf } from "../../shared/http/endpoint.ts";
import { answerUnknown } from "../../shared/http/fallback.ts";
import {
  ASSETS,
  accessTo,
  api,
  assets,
  atTheEdge,
  behaviours,
  edge,
  functionOrigins,
  one,
  originOf,
  signedFor,
  template,
  withDomain,
} from "./support/edge.ts";
import { behaviourOf, FILES, fileLines } from "./support/edge-files.ts";
import { ofType, standardContents, synthesize, type Template, textOf, whole } from "./support/template.ts";

const STREAM = "/v1/in-app/stream";
const lines: Record<string, () => void | Promise<void>> = {
  ...fileLines,
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
    const { statusCode, headers: answered } = atTheEdge("OPTIONS", STREAM);
    const { "strict-transport-security": _, "referrer-policy": __, ...headers } = answered;
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

const page = readFileSync(new URL("../../docs/edge.md", import.meta.url), "utf8");
const written = [...page.matchAll(/^\| (E\d+) \| \w+ \| (.+) \|$/gm)].map(([, id, line]) => [id!, line!] as const);

it.each(written)("%s %s", async (id) => {
  expect(lines).toHaveProperty(id);
  await lines[id]!();
});

it("asserts no line that is not written", () => {
  expect(new Set(Object.keys(lines))).toEqual(new Set(written.map(([id]) => id)));
});
