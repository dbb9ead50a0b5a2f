// The edge as the template describes it, and its function as it runs.
import { expect } from "vitest";
import { deployed, ofType, synthesize, type Template } from "./template.ts";

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

/** Runs the viewer-request function as CloudFront would. */
export function atTheEdge(method: string, uri: string, headers: Record<string, string> = {}) {
  const code = one("AWS::CloudFront::Function").FunctionCode;
  const handler = new Function(`${code}; return handler;`)() as (
    event: object,
  ) => EdgeRequest & { statusCode?: number };
  const given = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, { value }]));
  const answer = handler({ request: { method, uri, headers: given }, viewer: { ip: "198.51.100.7" } });
  return {
    ...answer,
    headers: Object.fromEntries(Object.entries(answer.headers).map(([name, { value }]) => [name, value])),
  };
}
