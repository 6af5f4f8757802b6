import { escapeHidden } from "../../../../client/index.ts"
import { Labelled, Select } from "../../components/form.tsx"

interface RowSelectProps {
  readonly label: string
  readonly value: string | null
  readonly rows: readonly { readonly id: string; readonly name: string }[]
  /** The label of the choice without a row. */
  readonly none: string
  readonly onChoose: (id: string | null) => void
}

/** Selects one row by name, or none. */
export function RowSelect({ label, value, rows, none, onChoose }: RowSelectProps) {
  return (
    <Labelled label={label}>
      <Select
        value={value ?? ""}
        choices={[["", none], ...rows.map(({ id, name }) => [id, escapeHidden(name)] as const)]}
        onChoose={(id) => onChoose(id || null)}
      />
    </Labelled>
  )
}
