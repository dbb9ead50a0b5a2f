// CloudFront: one address for the API, the live stream and assets (docs/edge.md describes it line by line).
import { Annotations, Duration, type Stack } from "aws-cdk-lib";
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
  FunctionUrlOriginAccessControl,
  HttpVersion,
  OriginProtocolPolicy,
  OriginRequestPolicy,
  OriginSslPolicy,
  ResponseHeadersPolicy,
  SecurityPolicyProtocol,
  ViewerProtocolPolicy,
} from "aws-cdk-lib/aws-cloudfront";
import { FunctionUrlOrigin, HttpOrigin } from "aws-cdk-lib/aws-cloudfront-origins";
import { FunctionUrlAuthType, InvokeMode } from "aws-cdk-lib/aws-lambda";
import type { IBucket } from "aws-cdk-lib/aws-s3";
import { ACCEPTED_PAGE, toConsole } from "../console/policy.ts";
import { preflightHeaders } from "../shared/http/fallback.ts";
import { ASSETS_PATH } from "../shared/store/files/assets.ts";
import type { Api } from "./api.ts";
import { assetBehavior, fileBehaviors, globalName, safeTransport, safeTransportHeaders } from "./edge-files.ts";
import type { Contents } from "./functions.ts";
import type { Lambdas } from "./lambdas.ts";
import { lookUp } from "./names.ts";
import type { Settings } from "./settings.ts";

/** The functions name the headers that they read. */
const ORIGIN_SECRET_HEADER = "x-origin-secret";
const VIEWER_ADDRESS_HEADER = "x-viewer-ip";
const VIEWER_AUTHORIZATION_HEADER = "x-viewer-authorization";

/** Every error status that CloudFront would cache. None of them is to be cached. */
const REMEMBERED_STATUSES = [400, 403, 404, 405, 414, 416, 500, 501, 502, 503, 504];

/** Longer than the time between two frames of the stream, which is at most 30 seconds (its keepalive). */
const ORIGIN_SILENCE = Duration.seconds(60);

interface Origins {
  api: Api;
  lambdas: Lambdas;
  stream: Contents["stream"];
  secret: string;
  assets: IBucket;
  site: IBucket;
  /** The bucket to which the console uploads large import files. */
  imports: IBucket;
}

export function createEdge(
  stack: Stack,
  { domain, webAclArn }: Settings,
  { api, lambdas, stream, secret, assets, site, imports }: Origins,
) {
  const origin = {
    readTimeout: ORIGIN_SILENCE,
    keepaliveTimeout: ORIGIN_SILENCE,
    customHeaders: { [ORIGIN_SECRET_HEADER]: secret },
  };
  const [method = "", streamPath = ""] = stream.endpoint.route.split(" ");
  const viewerRequest = new EdgeFunction(stack, "ViewerRequest", {
    comment: "Sets the viewer's address; leads browsers to the console; answers the live stream's CORS preflight.",
    runtime: FunctionRuntime.JS_2_0,
    code: FunctionCode.fromInline(viewerRequestCode(streamPath, method)),
  });
  const responseHeadersPolicy = answerHeaders(stack);
  const uncached: Omit<BehaviorOptions, "origin"> = {
    responseHeadersPolicy,
    cachePolicy: CachePolicy.CACHING_DISABLED,
    originRequestPolicy: OriginRequestPolicy.ALL_VIEWER_EXCEPT_HOST_HEADER,
    viewerProtocolPolicy: ViewerProtocolPolicy.HTTPS_ONLY,
    compress: false,
    functionAssociations: [{ function: viewerRequest, eventType: FunctionEventType.VIEWER_REQUEST }],
  };
  const streamUrl = lookUp(lambdas, stream.name).addFunctionUrl({
    authType: FunctionUrlAuthType.AWS_IAM,
    invokeMode: InvokeMode.RESPONSE_STREAM,
  });

  Annotations.of(stack).acknowledgeWarning(
    "@aws-cdk/aws-cloudfront-origins:listBucketSecurityRisk",
    "Only paths of files reach the buckets, without a query string, so clients cannot list them.",
  );
  const apiOrigin = new HttpOrigin(api.domain, {
    ...origin,
    protocolPolicy: OriginProtocolPolicy.HTTPS_ONLY,
    originSslProtocols: [OriginSslPolicy.TLS_V1_2],
  });
  const distribution = new Distribution(stack, "Distribution", {
    comment: `${stack.stackName}: API, live stream, files and assets`,
    httpVersion: HttpVersion.HTTP2_AND_3,
    defaultBehavior: { ...uncached, allowedMethods: AllowedMethods.ALLOW_ALL, origin: apiOrigin },
    additionalBehaviors: {
      [streamPath]: {
        ...uncached,
        allowedMethods: AllowedMethods.ALLOW_GET_HEAD_OPTIONS,
        origin: FunctionUrlOrigin.withOriginAccessControl(streamUrl, {
          ...origin,
          originAccessControl: new FunctionUrlOriginAccessControl(stack, "StreamAccess", {
            originAccessControlName: globalName(stack, "stream"),
          }),
        }),
      },
      [`${ASSETS_PATH}*`]: assetBehavior(stack, assets),
      ...fileBehaviors(stack, { site, imports }),
    },
    ...(webAclArn !== undefined && { webAclId: webAclArn }),
    errorResponses: REMEMBERED_STATUSES.map((httpStatus) => ({ httpStatus, ttl: Duration.seconds(0) })),
    ...(domain && {
      domainNames: [domain.name],
      certificate: Certificate.fromCertificateArn(stack, "Certificate", domain.certificateArn),
      minimumProtocolVersion: SecurityPolicyProtocol.TLS_V1_2_2021,
    }),
  });
  return {
    distribution,
    distributionId: distribution.distributionId,
    domain: distribution.distributionDomainName,
    url: `https://${domain?.name ?? distribution.distributionDomainName}`,
  };
}

const answerHeaders = (stack: Stack): ResponseHeadersPolicy =>
  new ResponseHeadersPolicy(stack, "AnswerHeaders", {
    responseHeadersPolicyName: globalName(stack, "answers"),
    comment: "Everything: HTTPS only, and no address of a page goes to another site.",
    securityHeadersBehavior: safeTransport,
  });

/**
 * The function that CloudFront runs on every request, as text, because its runtime is not Node. The stream's origin never gets `Authorization`, because CloudFront signs its own request there (E10 in docs/edge.md).
 * It never answers OPTIONS, because CloudFront routes by path alone and `$default` is behind the other origin (E11 in
 * docs/edge.md).
 */
function viewerRequestCode(streamPath: string, method: string): string {
  const [page, preflight] = [toConsole.headers, preflightHeaders([method])].map((headers) =>
    JSON.stringify(edgeHeaders({ ...headers, ...safeTransportHeaders })),
  );
  return `function handler(event) {
  var request = event.request;
  var headers = request.headers;
  headers["${VIEWER_ADDRESS_HEADER}"] = { value: event.viewer.ip };
  delete headers["${VIEWER_AUTHORIZATION_HEADER}"];
  var isRead = request.method === "GET" || request.method === "HEAD";
  if (request.uri === "/" && isRead && headers.accept && ${ACCEPTED_PAGE}.test(headers.accept.value)) {
    return { statusCode: ${toConsole.status}, statusDescription: "Found", headers: ${page} };
  }
  if (request.uri !== ${JSON.stringify(streamPath)}) return request;
  if (request.method === "OPTIONS") {
    return { statusCode: 204, statusDescription: "No Content", headers: ${preflight} };
  }
  if (headers.authorization) headers["${VIEWER_AUTHORIZATION_HEADER}"] = { value: headers.authorization.value };
  return request;
}
`;
}

/** Headers as CloudFront's functions have them. */
const edgeHeaders = (headers: Readonly<Record<string, string>>): Record<string, { value: string }> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, { value }]));
