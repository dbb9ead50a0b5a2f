// CloudFront: one address for the API, the live stream and assets (docs/edge.md says what it does, line by line).
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
  HttpVersion,
  OriginProtocolPolicy,
  OriginRequestPolicy,
  OriginSslPolicy,
  ResponseHeadersPolicy,
  SecurityPolicyProtocol,
  ViewerProtocolPolicy,
} from "aws-cdk-lib/aws-cloudfront";
import { FunctionUrlOrigin, HttpOrigin, S3BucketOrigin } from "aws-cdk-lib/aws-cloudfront-origins";
import { FunctionUrlAuthType, InvokeMode } from "aws-cdk-lib/aws-lambda";
import type { Bucket, IBucket } from "aws-cdk-lib/aws-s3";
import { ASSETS_PATH, assetHeaders } from "../shared/asset-files.ts";
import type { Api } from "./api.ts";
import type { Contents } from "./functions.ts";
import type { Lambdas } from "./lambdas.ts";
import type { Settings } from "./settings.ts";
import { viewerRequestCode } from "./viewer-request.ts";

/** Named by the functions that read them. */
const ORIGIN_SECRET_HEADER = "x-origin-secret";

/** Every status for which CloudFront would remember a failure; it is to remember none. */
const REMEMBERED_STATUSES = [400, 403, 404, 405, 414, 416, 500, 501, 502, 503, 504];

/** How long the edge may go on serving an asset that was deleted. */
const DELETED_ASSET_STAYS = Duration.hours(1);

/** Between two frames of the stream lie at most 30 seconds (its keepalive). */
const ORIGIN_SILENCE = Duration.seconds(60);

interface Origins {
  api: Api;
  lambdas: Lambdas;
  stream: Contents["stream"];
  secret: string;
  assets: Bucket;
}

export function createEdge(stack: Stack, { domain }: Settings, { api, lambdas, stream, secret, assets }: Origins) {
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

  Annotations.of(stack).acknowledgeWarning(
    "@aws-cdk/aws-cloudfront-origins:listBucketSecurityRisk",
    "Paths of assets alone reach the bucket, without a query string: nobody can ask it for a list.",
  );
  const distribution = new Distribution(stack, "Distribution", {
    comment: `${stack.stackName}: API, live stream and assets`,
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
      [`${ASSETS_PATH}*`]: assetBehavior(stack, assets),
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

/** Images as they were uploaded, and nothing that a browser would run if one of them were something else. */
function assetBehavior(stack: Stack, assets: Bucket): BehaviorOptions {
  const { "content-security-policy": policy, "cross-origin-resource-policy": shownBy } = assetHeaders;
  return {
    // The cast: the two types differ in what may be left undefined, nothing else.
    // Being allowed to list, S3 answers 404 for what is not there; no request from outside can ask for a list.
    origin: S3BucketOrigin.withOriginAccessControl(assets as IBucket, {
      originAccessLevels: [AccessLevel.READ, AccessLevel.LIST],
    }),
    allowedMethods: AllowedMethods.ALLOW_GET_HEAD,
    viewerProtocolPolicy: ViewerProtocolPolicy.HTTPS_ONLY,
    compress: false,
    cachePolicy: new CachePolicy(stack, "AssetCache", {
      comment: "Assets: by path alone; looked up again after an hour, for they may be deleted.",
      minTtl: Duration.seconds(0),
      defaultTtl: DELETED_ASSET_STAYS,
      maxTtl: DELETED_ASSET_STAYS,
    }),
    responseHeadersPolicy: new ResponseHeadersPolicy(stack, "AssetHeaders", {
      comment: "Assets: pictures to everybody, a document or a script to nobody.",
      securityHeadersBehavior: {
        contentTypeOptions: { override: true },
        contentSecurityPolicy: { contentSecurityPolicy: policy, override: true },
      },
      customHeadersBehavior: {
        customHeaders: [{ header: "cross-origin-resource-policy", value: shownBy, override: true }],
      },
    }),
  };
}
