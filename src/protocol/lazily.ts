import { z } from "zod"

/**
 * A schema that is made when it is first asked something: to parse, for its shape, to be part of another one. Every schema
 * at the top of a module is one of these: a start loads some five hundred and its first requests need a few, and to make
 * them all was up to half of what importing Pawl took (`docs/speed.md`).
 *
 * For whoever uses it, it is the schema, with the type of it. Until then it is an empty object whose prototype answers
 * every question by making it; after that an object like any other of zod's, which costs nothing more.
 */
// @__NO_SIDE_EFFECTS__
export function lazily<Schema extends z.ZodType>(how: () => Schema): Schema {
  const made = () => become(schema, how())
  const schema = Object.create(
    new Proxy(Object.prototype, {
      get: (_, name) => Reflect.get(made(), name) as unknown,
      has: (_, name) => Reflect.has(made(), name),
    }),
  ) as Schema
  return schema
}

/**
 * Makes the object what the other one is, as zod's own `clone` would, but in place: its constructors are functions that
 * build on `this`. Copying what is inside is not enough, as that knows the other object and not this one.
 */
function become(schema: z.ZodType, real: z.ZodType): z.ZodType {
  const { constr, def, parent } = real._zod
  Object.setPrototypeOf(schema, constr.prototype as object)
  Reflect.apply(constr, schema, [def])
  if (parent) schema._zod.parent = parent
  const described = z.globalRegistry.get(real)
  if (described) z.globalRegistry.add(schema, described)
  return schema
}
