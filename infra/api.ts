// The HTTP API, imported as one document: a route per endpoint, an integration per function, `$default` for the rest.
import { ArnFormat, RemovalPolicy, type Stack } from "aws-cdk-lib";
import { CfnApi, CfnStage } from "aws-cdk-lib/aws-apigatewayv2";
import { CfnPermission } from "aws-cdk-lib/aws-lambda";
import { LogGroup, RetentionDays } from "aws-cdk-lib/aws-logs";
import { routesOf } from "../shared/http/endpoint.ts";
import type { Contents } from "./functions.ts";
import type { Lambdas } from "./lambdas.ts";
import { STAGE_LIMIT } from "./limits.ts";
import { deployedName, logicalIdOf, lookUp } from "./names.ts";
import type { Settings } from "./settings.ts";

/** The gateway's limit. The functions time out a second before it. */
const INTEGRATION_TIMEOUT_MS = 30_000;
const INTEGRATIONS = "x-amazon-apigateway-integrations";

/** The log has no query string (`?sdk_key=`), no network address and no credential. */
const ACCESS_LOG = {
  request_id: "$context.requestId",
  route: "$context.routeKey",
  status: "$context.status",
  ms: "$context.responseLatency",
  error: "$context.error.message",
  integration_error: "$context.integrationErrorMessage",
};

export interface Api {
  id: string;
  /** `https://<id>.execute-api.<region>.<suffix>`, without a trailing slash. */
  url: string;
  domain: string;
  /** Lets the gateway invoke the functions behind its routes. */
  allow(lambdas: Lambdas): void;
}

export function createApi(stack: Stack, settings: Settings, contents: Contents): Api {
  const targets = [...contents.groups.map(({ name }) => `api-${name}`), "fallback"];
  // The function is named, not referenced: functions get the API's address, so a reference would be circular.
  const uriOf = (name: string) => {
    const target = stack.formatArn({
      service: "lambda",
      resource: "function",
      resourceName: deployedName(settings.stackName, name),
      arnFormat: ArnFormat.COLON_RESOURCE_NAME,
    });
    return `arn:${stack.partition}:apigateway:${stack.region}:lambda:path/2015-03-31/functions/${target}/invocations`;
  };
  const integrations = targets.map((name) => [
    name,
    {
      type: "aws_proxy",
      httpMethod: "POST",
      payloadFormatVersion: "2.0",
      timeoutInMillis: INTEGRATION_TIMEOUT_MS,
      uri: uriOf(name),
    },
  ]);
  const title = stack.stackName;
  const api = new CfnApi(stack, "Api", {
    body: {
      openapi: "3.0.1",
      info: { title, version: "1" },
      paths: pathsOf(contents),
      components: { [INTEGRATIONS]: Object.fromEntries(integrations) },
    },
  });
  const log = new LogGroup(stack, "ApiLog", {
    retention: RetentionDays.ONE_MONTH,
    removalPolicy: RemovalPolicy.DESTROY,
  });
  new CfnStage(stack, "ApiStage", {
    apiId: api.ref,
    stageName: "$default",
    autoDeploy: true,
    defaultRouteSettings: STAGE_LIMIT,
    accessLogSettings: { destinationArn: log.logGroupArn, format: JSON.stringify(ACCESS_LOG) },
  });

  const domain = `${api.ref}.execute-api.${stack.region}.${stack.urlSuffix}`;
  const sourceArn = stack.formatArn({ service: "execute-api", resource: api.ref, resourceName: "*" });
  const allow: Api["allow"] = (lambdas) => {
    for (const name of targets)
      new CfnPermission(stack, `${logicalIdOf(name)}Invoke`, {
        action: "lambda:InvokeFunction",
        functionName: lookUp(lambdas, name).functionName,
        principal: "apigateway.amazonaws.com",
        sourceArn,
      });
  };
  return { id: api.ref, url: `https://${domain}`, domain, allow };
}

type Operation = Record<string, unknown>;

/** Paths as API Gateway imports them, with path parameters declared as OpenAPI requires. */
function pathsOf({ groups }: Contents): Record<string, Record<string, Operation>> {
  const through = (name: string): Operation => ({
    "x-amazon-apigateway-integration": { $ref: `#/components/${INTEGRATIONS}/${name}` },
    responses: { default: { description: "As documented." } },
  });
  const paths: Record<string, Record<string, Operation>> = {};
  for (const group of groups)
    for (const { routeKey } of routesOf(group)) {
      const [method = "", path = ""] = routeKey.split(" ");
      const parameters = [...path.matchAll(/\{(\w+)\+?\}/g)].map(([, parameter]) => ({
        name: parameter,
        in: "path",
        required: true,
        schema: { type: "string" },
      }));
      paths[path] ??= {};
      paths[path][method.toLowerCase()] = {
        ...through(`api-${group.name}`),
        ...(parameters.length > 0 && { parameters }),
      };
    }
  paths["/$default"] = { "x-amazon-apigateway-any-method": { ...through("fallback"), isDefaultRoute: true } };
  return paths;
}
