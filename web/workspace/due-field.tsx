import type { DayOrMoment } from "../../src/protocol/index.ts"
import { Labelled } from "../parts/labelled.tsx"
import { fromFields, toDayField, toTimeField, zoneName } from "./due.ts"

interface DueFieldProps {
  readonly value: DayOrMoment | null
  readonly onChange: (value: DayOrMoment | null) => void
}

/** A day, and a time where it matters, as clocks go where the person is. */
export function DueField({ value, onChange }: DueFieldProps) {
  const [day, time] = [toDayField(value), toTimeField(value)]
  return (
    <div className="grid grid-cols-2 gap-3">
      <Labelled label="Due">
        <input
          type="date"
          max="9999-12-31"
          value={day}
          onChange={(event) => onChange(fromFields(event.target.value, time))}
          className="field h-9"
        />
      </Labelled>
      <Labelled label={`At (${zoneName()})`}>
        <input
          type="time"
          value={time}
          disabled={value === null}
          onChange={(event) => onChange(fromFields(day, event.target.value))}
          className="field h-9 disabled:opacity-45"
        />
      </Labelled>
    </div>
  )
}
