// One Lambda per declared function, each with its own role. Grants and env variables derive from the same list.
import { Duration, RemovalPolicy, type Stack } from "aws-cdk-lib";
import { PolicyDocument, Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import {
  Architecture,
  type CfnFunction,
  type Code,
  Function as LambdaFunction,
  LoggingFormat,
  RecursiveLoop,
  Runtime,
  SystemLogLevel,
  Tracing,
} from "aws-cdk-lib/aws-lambda";
import { LogGroup, RetentionDays } from "aws-cdk-lib/aws-logs";
import { sendsToItself } from "../shared/runtime/worker.ts";
import type { DeployedFunction } from "./functions.ts";
import { baseStatements, declaredStatements, type StackResources, variablesOf } from "./grants.ts";
import { deployedName, logicalIdOf } from "./names.ts";
import type { Settings } from "./settings.ts";

export type Lambdas = ReadonlyMap<string, LambdaFunction>;

interface LambdaOptions extends StackResources {
  code(name: string): Code;
  /** Variables beside those of the resources. Undefined values are left out. */
  variables: Record<string, string | undefined>;
}

export function createLambdas(
  stack: Stack,
  settings: Settings,
  declared: readonly DeployedFunction[],
  { code, variables, ...resources }: LambdaOptions,
): Lambdas {
  const values: Record<string, string | undefined> = { ...variablesOf(resources), ...variables };
  const environmentOf = ({ name, env }: DeployedFunction) => {
    const unknown = env.find((variable) => !Object.hasOwn(values, variable));
    if (unknown) throw new Error(`${name} declares the env variable ${unknown}, which the stack does not set.`);
    return Object.fromEntries(env.flatMap((variable) => (values[variable] ? [[variable, values[variable]]] : [])));
  };

  return new Map(
    declared.map((spec) => {
      const { name, kind, about, memoryMb, timeoutSeconds } = spec;
      const id = logicalIdOf(name);
      const functionName = deployedName(settings.stackName, name);
      const logGroup = new LogGroup(stack, `${id}Log`, {
        logGroupName: `/aws/lambda/${functionName}`,
        retention: RetentionDays.ONE_MONTH,
        removalPolicy: RemovalPolicy.DESTROY,
      });

      const statements = [
        ...baseStatements(spec, logGroup.logGroupArn, resources),
        ...declaredStatements(stack, spec, resources),
      ];
      const role = new Role(stack, `${id}Role`, {
        assumedBy: new ServicePrincipal("lambda.amazonaws.com"),
        inlinePolicies: { uses: new PolicyDocument({ statements }) },
      });

      const reserved = kind === "stream" ? settings.streamConcurrency : undefined;
      const lambda = new LambdaFunction(stack, id, {
        functionName,
        description: about,
        code: code(name),
        handler: "index.handler",
        runtime: Runtime.NODEJS_24_X,
        architecture: Architecture.ARM_64,
        memorySize: memoryMb,
        timeout: Duration.seconds(timeoutSeconds),
        // Immutable, so that the CDK adds no statements to the declared role.
        role: role.withoutPolicyUpdates(),
        environment: environmentOf(spec),
        tracing: Tracing.ACTIVE,
        loggingFormat: LoggingFormat.JSON,
        // Leaves out the START and REPORT lines of every invocation, which are half of the cost of logs.
        systemLogLevelV2: SystemLogLevel.WARN,
        logGroup,
        // AWS stops an invocation after about 16 hops through its own queue, unless this is allowed.
        ...(sendsToItself(name, spec.grants) && { recursiveLoop: RecursiveLoop.ALLOW }),
        ...(reserved !== undefined && { reservedConcurrentExecutions: reserved }),
      });
      (lambda.node.defaultChild as CfnFunction).overrideLogicalId(id);
      return [name, lambda];
    }),
  );
}
