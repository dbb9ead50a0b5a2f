// Attributes that share a prefix, declared as one family (`a:*`).

type FamilyValue<R, P extends string> = NonNullable<R[`${P}${string}` & keyof R]>;

/** The attributes of a row whose names begin with `prefix`: what follows the prefix, and the value. */
export function familyOf<R extends object, P extends string>(row: R, prefix: P): [name: string, FamilyValue<R, P>][] {
  const family: [string, FamilyValue<R, P>][] = [];
  for (const name in row)
    if (isMember(name, prefix)) family.push([name.slice(prefix.length), row[name] as FamilyValue<R, P>]);
  return family;
}

const isMember = <P extends string>(name: string, prefix: P): name is `${P}${string}` => name.startsWith(prefix);
