import { Part } from "./part.tsx"

/** Where databases will be connected. */
export function ConnectionSettings() {
  return (
    <Part
      title="Connections"
      says="Databases that an analyst may look into will be connected here. This server has no analyst yet, so there is nothing to connect."
    />
  )
}
