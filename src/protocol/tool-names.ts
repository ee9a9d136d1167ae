/** The one name by which the model knows a tool. A member of a namespace: `<namespace>__<name>`. */
export function flatToolName(name: string, namespace: string | undefined): string {
  return namespace === undefined ? name : `${namespace}__${name}`;
}
