// CloudFront: one address for the API and the live stream (docs/edge.md says what it does, line by line).
import { Duration, type Stack } from "aws-cdk-lib";
import { Certificate } from "aws-cdk-lib/aws-certificatemanager";
import {
  AllowedMethods,
  type BehaviorOptions,
  CachePolicy,
  Distribution,
  Function as EdgeFunction,
  FunctionCode,
  FunctionEventType,
  FunctionRuntime,
  HttpVersion,
  OriginProtocolPolicy,
  OriginRequestPolicy,
  OriginSslPolicy,
  SecurityPolicyProtocol,
  ViewerProtocolPolicy,
} from "aws-cdk-lib/aws-cloudfront";
import { FunctionUrlOrigin, HttpOrigin } from "aws-cdk-lib/aws-cloudfront-origins";
import { FunctionUrlAuthType, InvokeMode } from "aws-cdk-lib/aws-lambda";
import type { Api } from "./api.ts";
import type { Contents } from "./functions.ts";
import type { Lambdas } from "./lambdas.ts";
import type { Settings } from "./settings.ts";
import { viewerRequestCode } from "./viewer-request.ts";

/** Named by the functions that read them. */
const ORIGIN_SECRET_HEADER = "x-origin-secret";

/** Every status for which CloudFront would remember a failure; it is to remember none. */
const REMEMBERED_STATUSES = [400, 403, 404, 405, 414, 416, 500, 501, 502, 503, 504];

/** Between two frames of the stream lie at most 30 seconds (its keepalive). */
const ORIGIN_SILENCE = Duration.seconds(60);

interface Origins {
  api: Api;
  lambdas: Lambdas;
  stream: Contents["stream"];
  secret: string;
}

export function createEdge(stack: Stack, { domain }: Settings, { api, lambdas, stream, secret }: Origins) {
  const origin = {
    readTimeout: ORIGIN_SILENCE,
    keepaliveTimeout: ORIGIN_SILENCE,
    customHeaders: { [ORIGIN_SECRET_HEADER]: secret },
  };
  const [method = "", streamPath = ""] = stream.endpoint.route.split(" ");
  const viewerRequest = new EdgeFunction(stack, "ViewerRequest", {
    comment: "Names the viewer; answers the preflight of the live stream.",
    runtime: FunctionRuntime.JS_2_0,
    code: FunctionCode.fromInline(viewerRequestCode(streamPath, method)),
  });
  const uncached: Omit<BehaviorOptions, "origin"> = {
    cachePolicy: CachePolicy.CACHING_DISABLED,
    originRequestPolicy: OriginRequestPolicy.ALL_VIEWER_EXCEPT_HOST_HEADER,
    viewerProtocolPolicy: ViewerProtocolPolicy.HTTPS_ONLY,
    compress: false,
    functionAssociations: [{ function: viewerRequest, eventType: FunctionEventType.VIEWER_REQUEST }],
  };
  const streamUrl = lambdas.get(stream.name)!.addFunctionUrl({
    authType: FunctionUrlAuthType.AWS_IAM,
    invokeMode: InvokeMode.RESPONSE_STREAM,
  });

  const distribution = new Distribution(stack, "Distribution", {
    comment: `${stack.stackName}: API and live stream`,
    httpVersion: HttpVersion.HTTP2_AND_3,
    defaultBehavior: {
      ...uncached,
      allowedMethods: AllowedMethods.ALLOW_ALL,
      origin: new HttpOrigin(api.domain, {
        ...origin,
        protocolPolicy: OriginProtocolPolicy.HTTPS_ONLY,
        originSslProtocols: [OriginSslPolicy.TLS_V1_2],
      }),
    },
    additionalBehaviors: {
      [streamPath]: {
        ...uncached,
        allowedMethods: AllowedMethods.ALLOW_GET_HEAD_OPTIONS,
        origin: FunctionUrlOrigin.withOriginAccessControl(streamUrl, origin),
      },
    },
    errorResponses: REMEMBERED_STATUSES.map((httpStatus) => ({ httpStatus, ttl: Duration.seconds(0) })),
    ...(domain && {
      domainNames: [domain.name],
      certificate: Certificate.fromCertificateArn(stack, "Certificate", domain.certificateArn),
      minimumProtocolVersion: SecurityPolicyProtocol.TLS_V1_2_2021,
    }),
  });
  return {
    domain: distribution.distributionDomainName,
    url: `https://${domain?.name ?? distribution.distributionDomainName}`,
  };
}
