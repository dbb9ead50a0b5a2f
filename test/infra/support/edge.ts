// The edge as the template describes it, and its function as it runs.
import { expect } from "vitest";
import type { SiteFile, SiteFiles } from "../../../docs/site/build.ts";
import { deployed, ofType, synthesize, type Template, textOf } from "./template.ts";

export const template: Template = deployed();
export const ASSETS = "/assets/*";

export const one = (type: string, from = template) => {
  const found = ofType(from, type);
  expect(found).toHaveLength(1);
  return found[0]![1].Properties;
};

export const edge = () => one("AWS::CloudFront::Distribution").DistributionConfig;
export const assets = () =>
  edge().CacheBehaviors.find(({ PathPattern }: { PathPattern: string }) => PathPattern === ASSETS);

/** Of what our functions answer: all but the assets. */
export const behaviours = () => [edge().DefaultCacheBehavior, edge().CacheBehaviors[0]];

export const functionOrigins = () => behaviours().map(originOf);

export const originOf = ({ TargetOriginId }: { TargetOriginId: string }) =>
  edge().Origins.find(({ Id }: { Id: string }) => Id === TargetOriginId);

export const api = () => one("AWS::ApiGatewayV2::Api").Body;

export const withDomain = () =>
  synthesize({
    context: { domain: { name: "api.example.com", certificateArn: "arn:aws:acm:us-east-1:1:certificate/x" } },
  });

export const accessTo = (behaviour: { TargetOriginId: string }) =>
  template.Resources[originOf(behaviour).OriginAccessControlId["Fn::GetAtt"][0]]!.Properties.OriginAccessControlConfig;

export const signedFor = (type: string) =>
  expect.objectContaining({
    OriginAccessControlOriginType: type,
    SigningBehavior: "always",
    SigningProtocol: "sigv4",
  });

interface EdgeRequest {
  method: string;
  uri: string;
  headers: Record<string, { value: string }>;
}

/** Runs the viewer-request function of the functions that answer, as CloudFront would. */
export function atTheEdge(method: string, uri: string, headers: Record<string, string> = {}) {
  const given = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, { value }]));
  const answer = viewerRequestOf(edge().DefaultCacheBehavior)({ method, uri, headers: given });
  return {
    ...answer,
    headers: Object.fromEntries(Object.entries(answer.headers).map(([name, { value }]) => [name, value])),
  };
}

type ViewerRequest = (request: EdgeRequest) => EdgeRequest & { statusCode?: number };

/** The function of a behaviour; where it has none, the request goes on as it is. */
function viewerRequestOf({ FunctionAssociations: [association] = [] }: Behaviour): ViewerRequest {
  if (!association) return (request) => request;
  const [id] = association.FunctionARN["Fn::GetAtt"];
  const handler = new Function(`${template.Resources[id]!.Properties.FunctionCode}; return handler;`)();
  return (request) => handler({ request, viewer: { ip: "198.51.100.7" } });
}

interface Behaviour {
  PathPattern?: string;
  FunctionAssociations?: { FunctionARN: { "Fn::GetAtt": [string, string] } }[];
  ResponseHeadersPolicyId: { Ref: string };
}

/** The behaviour of a path: the first whose pattern fits, as CloudFront looks for it. */
export function behaviourFor(path: string): Behaviour {
  const isFitting = ({ PathPattern = "" }: Behaviour) =>
    PathPattern.endsWith("*") ? path.startsWith(PathPattern.slice(0, -1)) : path === PathPattern;
  return edge().CacheBehaviors.find(isFitting) ?? edge().DefaultCacheBehavior;
}

/** What the edge answers a GET of a file: the object's own headers, and those of the behaviour. */
export function fileAtTheEdge(files: SiteFiles, path: string) {
  const behaviour = behaviourFor(path);
  const { uri } = viewerRequestOf(behaviour)({ method: "GET", uri: path, headers: {} });
  const file = files.get(uri);
  return file && { content: file.content, headers: { ...objectHeaders(file), ...addedHeaders(behaviour) } };
}

const objectHeaders = ({ type, cacheControl }: SiteFile): Record<string, string> => ({
  "content-type": type,
  "cache-control": cacheControl,
});

/** The headers that the edge adds to the answers of a behaviour, by name. */
function addedHeaders(behaviour: Behaviour): Record<string, string> {
  const { SecurityHeadersConfig: security, CustomHeadersConfig: custom } = headersOf(behaviour);
  const further: { Header: string; Value: string }[] = custom?.Items ?? [];
  return {
    ...Object.fromEntries(further.map(({ Header, Value }) => [Header, Value])),
    ...(security.ContentTypeOptions && { "x-content-type-options": "nosniff" }),
    "content-security-policy": textOf(security.ContentSecurityPolicy?.ContentSecurityPolicy ?? ""),
    "referrer-policy": security.ReferrerPolicy.ReferrerPolicy,
  };
}

/** The headers that the edge adds to the answers of a behaviour, as its policy has them. */
export const headersOf = ({ ResponseHeadersPolicyId: { Ref } }: Behaviour) =>
  template.Resources[Ref]!.Properties.ResponseHeadersPolicyConfig;
