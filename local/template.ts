// A template of CloudFormation, as `npm run synth` writes it, and what the local service reads of it.
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { awsFailure, type StandIn, type Wire } from "./aws/index.ts";
import { ACCOUNT, REGION } from "./lambda.ts";

interface Resource {
  Type: string;
  // biome-ignore lint/suspicious/noExplicitAny: CloudFormation has checked the properties
  Properties?: any;
}

export interface Template {
  Resources: Readonly<Record<string, Resource>>;
}

/** A synthesized stack, and its name in AWS. */
export interface LocalStack {
  name: string;
  template: Template;
}

/** @param file `<stackName>.template.json`. @throws an error where it is no template */
export function readStack(file: string): LocalStack {
  const template = JSON.parse(readFileSync(file, "utf8")) as Template;
  if (typeof template?.Resources !== "object") throw new Error("it has no Resources");
  return { name: basename(file).split(".")[0]!, template };
}

export const ofType = ({ Resources }: Template, type: string): [id: string, properties: Wire][] =>
  Object.entries(Resources).flatMap(([id, { Type, Properties = {} }]) => (Type === type ? [[id, Properties]] : []));

const pseudo: Readonly<Record<string, string>> = { "AWS::AccountId": ACCOUNT, "AWS::Region": REGION };

/** A value as text. A reference becomes its logical id, such as `Stream` or `Table.Arn`. */
export function textIn(value: unknown): string {
  if (typeof value !== "object" || value === null) return String(value);
  const { Ref, "Fn::GetAtt": path, "Fn::Join": join } = value as Wire;
  if (typeof Ref === "string") return pseudo[Ref] ?? Ref;
  if (Array.isArray(path)) return path.join(".");
  if (Array.isArray(join)) return join[1].map(textIn).join(join[0]);
  return JSON.stringify(value);
}

/** The parameter store of Systems Manager, as a deployment of the template fills it. */
export function createParameters({ template }: LocalStack): StandIn {
  const values = new Map(
    ofType(template, "AWS::SSM::Parameter").map(([, { Name, Type, Value }]) => [
      textIn(Name),
      { Name: textIn(Name), Type, Value: textIn(Value), Version: 1 },
    ]),
  );
  return {
    operate: async (operation, { Name }) => {
      if (operation !== "GetParameter") throw awsFailure("UnknownOperationException", `${operation} is not imitated.`);
      const Parameter = values.get(String(Name));
      if (!Parameter) throw awsFailure("ParameterNotFound", "");
      return { Parameter };
    },
  };
}
