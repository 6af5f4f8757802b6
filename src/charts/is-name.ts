/** Words at the end of a column's name that tell that its numbers are names: years, ids, codes. They have no sum. */
const NAMES =
  /(?:^|[\s_])(?:ids?|year|yr|jahr|quarter|month|week|weekday|day|hour|zip|zipcode|postcode|plz|code|phone|fax|isbn|ean|sku|port|pid|version|key|no|nr|number)$/i

/** Whether the numbers of a column are names, which nobody adds up or groups by thousands. */
export const isName = ({ name }: { readonly name: string }): boolean =>
  NAMES.test(name) || /(?:[a-z]Id|[a-z]Year|[a-z]Code)$/.test(name)
