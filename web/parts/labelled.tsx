import type { ComponentProps, ReactNode } from "react"

interface LabelledProps {
  readonly label: ReactNode
  readonly children: ReactNode
  readonly className?: string
}

/** A field with its name above it. */
export function Labelled({ label, children, className = "" }: LabelledProps) {
  return (
    <label className={`block min-w-0 text-sm ${className}`}>
      <span className="mb-1 block text-soft">{label}</span>
      {children}
    </label>
  )
}

interface SelectProps extends Omit<ComponentProps<"select">, "onChange"> {
  readonly choices: readonly (readonly [value: string, name: string])[]
  readonly onChoose: (value: string) => void
}

/** One of several, as the system shows it. */
export function Select({ choices, onChoose, className = "", ...rest }: SelectProps) {
  return (
    <select {...rest} onChange={(event) => onChoose(event.target.value)} className={`field ${className}`}>
      {choices.map(([value, name]) => (
        <option key={value} value={value}>
          {name}
        </option>
      ))}
    </select>
  )
}
