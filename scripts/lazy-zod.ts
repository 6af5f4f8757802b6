import { z } from "zod"

export * from "zod"

/**
 * Replaces `zod` in built programs: the functions below and these methods return a schema that is created on first use.
 * A server imports 4,400 schemas and its first requests use a few dozen.
 */
const methods = new Set([
  ...["optional", "nullable", "nullish", "default", "catch", "readonly", "array", "or", "and", "describe"],
  ...["refine", "superRefine", "transform", "pipe", "check", "overwrite", "brand"],
  ...["min", "max", "length", "regex", "trim", "startsWith", "endsWith", "includes", "toLowerCase", "normalize"],
  ...["int", "gt", "gte", "lt", "lte", "positive", "nonnegative", "multipleOf", "finite"],
  ...[
    "extend",
    "safeExtend",
    "strict",
    "loose",
    "pick",
    "omit",
    "partial",
    "required",
    "catchall",
    "exclude",
    "extract",
  ],
])

type Build = (...args: readonly never[]) => z.ZodType

// @__NO_SIDE_EFFECTS__
const lazy = <Builder extends Build>(build: Builder): Builder =>
  ((...args: readonly never[]) => new LazySchema(() => build(...args))) as unknown as Builder

/** An object that becomes the schema on first use, except when it only derives another schema. */
class LazySchema {
  #create: (() => z.ZodType) | undefined

  constructor(create: () => z.ZodType) {
    this.#create = create
  }

  static created(schema: LazySchema): LazySchema {
    if (schema.#create) become(schema as unknown as z.ZodType, schema.#create())
    schema.#create = undefined
    return schema
  }
}

for (const name of methods) {
  Object.defineProperty(LazySchema.prototype, name, {
    value(this: LazySchema, ...args: never[]) {
      return new LazySchema(() => Reflect.apply(Reflect.get(LazySchema.created(this), name) as Build, this, args))
    },
  })
}
Reflect.deleteProperty(LazySchema.prototype, "constructor")
Object.setPrototypeOf(
  LazySchema.prototype,
  new Proxy(Object.prototype, {
    get: (_, name, schema: LazySchema) => Reflect.get(LazySchema.created(schema), name) as unknown,
  }),
)

/** Turns an object into the same schema as another, in place, as zod's own `clone` does for a new object. */
function become(schema: z.ZodType, real: z.ZodType): void {
  const { constr, def, parent } = real._zod
  Object.setPrototypeOf(schema, constr.prototype as object)
  Reflect.apply(constr, schema, [def])
  if (parent) schema._zod.parent = parent
  const described = z.globalRegistry.get(real)
  if (described) z.globalRegistry.add(schema, described)
}

export const array = /* @__PURE__ */ lazy(z.array)
export const boolean = /* @__PURE__ */ lazy(z.boolean)
export const custom = /* @__PURE__ */ lazy(z.custom)
export const discriminatedUnion = /* @__PURE__ */ lazy(z.discriminatedUnion)
const lazyEnum = /* @__PURE__ */ lazy(z.enum)
export const int = /* @__PURE__ */ lazy(z.int)
export const literal = /* @__PURE__ */ lazy(z.literal)
export const looseObject = /* @__PURE__ */ lazy(z.looseObject)
const lazyNull = /* @__PURE__ */ lazy(z.null)
export const number = /* @__PURE__ */ lazy(z.number)
export const object = /* @__PURE__ */ lazy(z.object)
export const partialRecord = /* @__PURE__ */ lazy(z.partialRecord)
export const preprocess = /* @__PURE__ */ lazy(z.preprocess)
export const record = /* @__PURE__ */ lazy(z.record)
export const strictObject = /* @__PURE__ */ lazy(z.strictObject)
export const string = /* @__PURE__ */ lazy(z.string)
export const union = /* @__PURE__ */ lazy(z.union)
export const unknown = /* @__PURE__ */ lazy(z.unknown)
export const url = /* @__PURE__ */ lazy(z.url)
export { lazyEnum as enum, lazyNull as null }
