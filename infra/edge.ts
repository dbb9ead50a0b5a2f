// CloudFront: one address for the API, the live stream and assets (docs/edge.md describes it line by line).
import { Annotations, Duration, type Stack } from "aws-cdk-lib";
import { Certificate } from "aws-cdk-lib/aws-certificatemanager";
import {
  AccessLevel,
  AllowedMethods,
  type BehaviorOptions,
  CachePolicy,
  Distribution,
  Function as EdgeFunction,
  FunctionCode,
  FunctionEventType,
  FunctionRuntime,
  FunctionUrlOriginAccessControl,
  HeadersReferrerPolicy,
  HttpVersion,
  OriginProtocolPolicy,
  OriginRequestPolicy,
  OriginSslPolicy,
  ResponseHeadersPolicy,
  type ResponseSecurityHeadersBehavior,
  S3OriginAccessControl,
  SecurityPolicyProtocol,
  ViewerProtocolPolicy,
} from "aws-cdk-lib/aws-cloudfront";
import { FunctionUrlOrigin, HttpOrigin, S3BucketOrigin } from "aws-cdk-lib/aws-cloudfront-origins";
import { FunctionUrlAuthType, InvokeMode } from "aws-cdk-lib/aws-lambda";
import type { IBucket } from "aws-cdk-lib/aws-s3";
import { HASHED_PATH } from "../console/policy.ts";
import { pagePolicy } from "../docs/site/page.ts";
import { preflightHeaders } from "../shared/http/fallback.ts";
import { ASSETS_PATH, assetHeaders } from "../shared/store/files/assets.ts";
import type { Api } from "./api.ts";
import type { Contents } from "./functions.ts";
import type { Lambdas } from "./lambdas.ts";
import { lookUp } from "./names.ts";
import type { Settings } from "./settings.ts";

/** Named by the functions that read them. */
const ORIGIN_SECRET_HEADER = "x-origin-secret";
const VIEWER_ADDRESS_HEADER = "x-viewer-ip";
const VIEWER_AUTHORIZATION_HEADER = "x-viewer-authorization";

/** Every error status that CloudFront would cache. None of them is to be cached. */
const REMEMBERED_STATUSES = [400, 403, 404, 405, 414, 416, 500, 501, 502, 503, 504];

/** What is in the bucket of files (docs/decisions/0119). */
const FILE_PATHS = [`${HASHED_PATH}*`, "/docs", "/docs/*", "/openapi.json"];

/** How long the edge may serve an asset after its deletion. */
const DELETED_ASSET_STAYS = Duration.minutes(1);

/** Longer than the time between two frames of the stream, which is at most 30 seconds (its keepalive). */
const ORIGIN_SILENCE = Duration.seconds(60);

/** Subdomains of the domain may belong to other services, so they are not included. */
const safeTransport: ResponseSecurityHeadersBehavior = {
  strictTransportSecurity: { accessControlMaxAge: Duration.days(365), override: true },
  referrerPolicy: { referrerPolicy: HeadersReferrerPolicy.NO_REFERRER, override: false },
};

interface Origins {
  api: Api;
  lambdas: Lambdas;
  stream: Contents["stream"];
  secret: string;
  assets: IBucket;
  site: IBucket;
}

export function createEdge(
  stack: Stack,
  { domain, webAclArn }: Settings,
  { api, lambdas, stream, secret, assets, site }: Origins,
) {
  const origin = {
    readTimeout: ORIGIN_SILENCE,
    keepaliveTimeout: ORIGIN_SILENCE,
    customHeaders: { [ORIGIN_SECRET_HEADER]: secret },
  };
  const [method = "", streamPath = ""] = stream.endpoint.route.split(" ");
  const viewerRequest = new EdgeFunction(stack, "ViewerRequest", {
    comment: "Sets the viewer's address; answers the CORS preflight of the live stream.",
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
      ...fileBehaviors(stack, site),
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

/** Files that a deployment wrote: kept as long as their `Cache-Control` says, and compressed as the client accepts. */
function fileBehaviors(stack: Stack, site: IBucket): Record<string, BehaviorOptions> {
  const behavior: BehaviorOptions = {
    origin: S3BucketOrigin.withOriginAccessControl(site, {
      originAccessLevels: [AccessLevel.READ, AccessLevel.LIST],
      originAccessControl: new S3OriginAccessControl(stack, "SiteAccess", {
        originAccessControlName: globalName(stack, "site"),
      }),
    }),
    allowedMethods: AllowedMethods.ALLOW_GET_HEAD,
    viewerProtocolPolicy: ViewerProtocolPolicy.HTTPS_ONLY,
    cachePolicy: CachePolicy.CACHING_OPTIMIZED,
    compress: true,
    responseHeadersPolicy: new ResponseHeadersPolicy(stack, "FileHeaders", {
      responseHeadersPolicyName: globalName(stack, "files"),
      comment: "Console and documentation: nothing inline, nothing of other sites; any site may read them.",
      securityHeadersBehavior: {
        ...safeTransport,
        contentTypeOptions: { override: true },
        contentSecurityPolicy: { contentSecurityPolicy: pagePolicy, override: true },
      },
      corsBehavior: {
        accessControlAllowCredentials: false,
        accessControlAllowHeaders: ["*"],
        accessControlAllowMethods: ["GET", "HEAD"],
        accessControlAllowOrigins: ["*"],
        originOverride: true,
      },
    }),
  };
  return Object.fromEntries(FILE_PATHS.map((path) => [path, behavior]));
}

/** A name that is unique in the account, because it has the region: CloudFront's names are not regional. */
const globalName = (stack: Stack, what: string): string => `${stack.stackName}-${stack.region}-${what}`;

const answerHeaders = (stack: Stack): ResponseHeadersPolicy =>
  new ResponseHeadersPolicy(stack, "AnswerHeaders", {
    responseHeadersPolicyName: globalName(stack, "answers"),
    comment: "Everything: HTTPS only, and no address of a page goes to another site.",
    securityHeadersBehavior: safeTransport,
  });

/** Headers of assets: browsers show them as images, and never run one as a document or script. */
function assetBehavior(stack: Stack, assets: IBucket): BehaviorOptions {
  const { "content-security-policy": policy, "cross-origin-resource-policy": shownBy } = assetHeaders;
  return {
    // With the right to list, S3 answers 404 for a missing object. A request from outside cannot list.
    origin: S3BucketOrigin.withOriginAccessControl(assets, {
      originAccessLevels: [AccessLevel.READ, AccessLevel.LIST],
      originAccessControl: new S3OriginAccessControl(stack, "AssetAccess", {
        originAccessControlName: globalName(stack, "assets"),
      }),
    }),
    allowedMethods: AllowedMethods.ALLOW_GET_HEAD,
    viewerProtocolPolicy: ViewerProtocolPolicy.HTTPS_ONLY,
    compress: false,
    cachePolicy: new CachePolicy(stack, "AssetCache", {
      comment: "Assets: by path alone; checked again after a minute, because they may be deleted.",
      minTtl: Duration.seconds(0),
      defaultTtl: DELETED_ASSET_STAYS,
      maxTtl: DELETED_ASSET_STAYS,
    }),
    responseHeadersPolicy: new ResponseHeadersPolicy(stack, "AssetHeaders", {
      responseHeadersPolicyName: globalName(stack, "assets"),
      comment: "Assets: shown as images, never run as documents or scripts.",
      securityHeadersBehavior: {
        ...safeTransport,
        contentTypeOptions: { override: true },
        contentSecurityPolicy: { contentSecurityPolicy: policy, override: true },
      },
      customHeadersBehavior: {
        customHeaders: [{ header: "cross-origin-resource-policy", value: shownBy, override: true }],
      },
    }),
  };
}

/**
 * The function that CloudFront runs on every request, as text, because its runtime is not Node. The stream's origin never gets `Authorization`, because CloudFront signs its own request there (E10 in docs/edge.md).
 * It never answers OPTIONS, because CloudFront routes by path alone and `$default` is behind the other origin (E11 in
 * docs/edge.md).
 */
function viewerRequestCode(streamPath: string, method: string): string {
  const preflight = Object.fromEntries(
    Object.entries(preflightHeaders([method])).map(([name, value]) => [name, { value }]),
  );
  return `function handler(event) {
  var request = event.request;
  var headers = request.headers;
  headers["${VIEWER_ADDRESS_HEADER}"] = { value: event.viewer.ip };
  delete headers["${VIEWER_AUTHORIZATION_HEADER}"];
  if (request.uri !== ${JSON.stringify(streamPath)}) return request;
  if (request.method === "OPTIONS") {
    return { statusCode: 204, statusDescription: "No Content", headers: ${JSON.stringify(preflight)} };
  }
  if (headers.authorization) headers["${VIEWER_AUTHORIZATION_HEADER}"] = { value: headers.authorization.value };
  return request;
}
`;
}
