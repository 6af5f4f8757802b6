/** Passages and sentences that cite them: correct ones, and ones that differ from their passage. */
export interface CitedSentence {
  readonly passage: string
  readonly sentence: string
}

const TRIAL =
  "The trial enrolled 842 patients with heart failure in three groups between 2014 and 2016. Mortality was 12.4% in the drug group and 19.8% in the placebo group. Patients received 25 mg of the drug daily for twelve weeks. The drug did not increase the risk of kidney injury. Side effects were more common in women than in men."
const HONEY =
  "Honey reduces the frequency of cough in children older than one year. It should not be given to infants under 12 months because of the risk of botulism. In four of six studies honey worked better than dextromethorphan. A single dose of 2.5 ml before bed was used."
const BRIDGE =
  "The bridge opened in 1932 after eight years of construction. It is 1,149 metres long and its arch rises 134 metres above the harbour. About 1,400 workers built it, and sixteen of them died. Cars pay a toll southbound only. The bridge is not the longest of its kind, but it was the widest until 2012."
const BATTERY =
  "Cells with a silicon anode kept 80% of their capacity after 500 cycles, while cells with a graphite anode kept 92%. Charging took 18 minutes at 4 C. The silicon cells weigh 45 g each. No cell caught fire during the tests. The coating costs $3 million per production line, and it reduces swelling."
const LANGUAGE =
  "Basque is not related to any other living language. It had about 750,000 speakers in 2016, most of them in Spain. The standard form was agreed on in 1968. Children in the public schools may choose between three models of teaching. Basque has twelve noun cases."
const CODE =
  "The new compiler is faster than the old compiler on all benchmarks. Build time fell from 94 seconds to 31 seconds. The cache is disabled by default. Incremental builds use at most 2 GB of memory. Two of the five teams reported no regressions. The old compiler remains available until version 9."
const OCEAN =
  "Sea level rose by 3.4 mm per year between 1993 and 2018. Greenland lost more ice than Antarctica in that time. Melting sea ice does not raise the sea level, because it already floats. The deepest gauge stands at 4,200 m. Thermal expansion explains one third of the rise."
const LAW =
  "Tenants may sublet a room if the landlord agrees. The landlord cannot refuse without an important reason. Notice must be given three months in advance. The deposit is limited to two monthly rents. Courts decided nine cases in 2021, and tenants won six of them."
const TRANSFORMER =
  "The encoder reads the whole sentence at once, whereas the decoder produces one token at a time. The base model has 65 million parameters and the large model has 213 million. Training took 12 hours on eight GPUs. Dropout improved the results. The model outperformed recurrent networks on translation."

/** Each differs from its passage: a negation, swapped sides, a unit, a number in words or a year. */
export const contradicted: readonly CitedSentence[] = [
  { passage: TRIAL, sentence: "The drug increased the risk of kidney injury [1]." },
  { passage: TRIAL, sentence: "Mortality was 19.8% in the drug group and 12.4% in the placebo group [1]." },
  { passage: TRIAL, sentence: "Patients received 25 µg of the drug daily [1]." },
  { passage: TRIAL, sentence: "The trial enrolled patients in four groups [1]." },
  { passage: TRIAL, sentence: "The trial enrolled 842 patients with heart failure between 2012 and 2016 [1]." },
  { passage: TRIAL, sentence: "Side effects were more common in men than in women [1]." },
  { passage: TRIAL, sentence: "They took the drug daily for twelve months [1]." },
  { passage: HONEY, sentence: "Honey does not reduce the frequency of cough in children older than one year [1]." },
  { passage: HONEY, sentence: "Honey should be given to infants under 12 months [1]." },
  { passage: HONEY, sentence: "Dextromethorphan worked better than honey in four of six studies [1]." },
  { passage: HONEY, sentence: "A single dose of 2.5 l before bed was used [1]." },
  { passage: HONEY, sentence: "Honey worked better than dextromethorphan in five of six studies [1]." },
  { passage: BRIDGE, sentence: "The bridge opened in 1923 after eight years of construction [1]." },
  { passage: BRIDGE, sentence: "The bridge opened after six years of construction [1]." },
  { passage: BRIDGE, sentence: "Its arch rises 134 kilometres above the harbour [1]." },
  { passage: BRIDGE, sentence: "About 1,400 workers built it, and sixty of them died [1]." },
  { passage: BRIDGE, sentence: "The bridge is the longest of its kind [1]." },
  {
    passage: BATTERY,
    sentence:
      "Cells with a graphite anode kept 80% of their capacity after 500 cycles, and those with a silicon anode kept 92% [1].",
  },
  { passage: BATTERY, sentence: "The coating costs $3 billion per production line [1]." },
  { passage: BATTERY, sentence: "Charging took 18 hours [1]." },
  { passage: BATTERY, sentence: "The coating increases swelling [1]." },
  { passage: LANGUAGE, sentence: "Basque is related to other living languages [1]." },
  { passage: LANGUAGE, sentence: "The standard form was agreed on in 1986 [1]." },
  { passage: LANGUAGE, sentence: "Basque has fifteen noun cases [1]." },
  { passage: CODE, sentence: "The old compiler is faster than the new compiler on all benchmarks [1]." },
  { passage: CODE, sentence: "The cache is enabled by default [1]." },
  { passage: OCEAN, sentence: "Antarctica lost more ice than Greenland between 1993 and 2018 [1]." },
  { passage: OCEAN, sentence: "Melting sea ice raises the sea level [1]." },
  { passage: LAW, sentence: "Notice must be given six months in advance [1]." },
]

export const supported: readonly CitedSentence[] = [
  { passage: TRIAL, sentence: "The drug didn't raise the risk of kidney injury [1]." },
  { passage: TRIAL, sentence: "Mortality was lower with the drug (12.4%) than with placebo (19.8%) [1]." },
  { passage: TRIAL, sentence: "In the placebo group 19.8% died, in the drug group 12.4% [1]." },
  { passage: TRIAL, sentence: "Patients took 0.025 g a day for 12 weeks [1]." },
  { passage: TRIAL, sentence: "Men had side effects less often than women [1]." },
  { passage: TRIAL, sentence: "The 842 patients were in 3 groups, and two of them are compared here [1]." },
  {
    passage: TRIAL,
    sentence:
      "It is not clear from this whether the drug helps older patients, but mortality was 12.4% in the drug group [1].",
  },
  { passage: HONEY, sentence: "“[H]oney worked better than dextromethorphan” in most of the studies [1]." },
  { passage: HONEY, sentence: "Infants under 12 months should not get honey, because of botulism [1]." },
  { passage: HONEY, sentence: "Honey is safe only for children older than one year; younger ones risk botulism [1]." },
  { passage: HONEY, sentence: "Honey was better than dextromethorphan in 4 of 6 studies [1]." },
  { passage: HONEY, sentence: "Do not give honey to infants, even though it reduces cough in older children [1]." },
  { passage: BRIDGE, sentence: "It took eight years to build and opened in 1932 [1]." },
  { passage: BRIDGE, sentence: "The arch is 134 m high and the bridge about 1.15 km long [1]." },
  { passage: BRIDGE, sentence: "16 of about 1,400 workers died [1]." },
  { passage: BRIDGE, sentence: "Until 2012 no bridge of its kind was wider, though others are longer [1]." },
  {
    passage: BATTERY,
    sentence: "Graphite cells kept more capacity (92%) than silicon cells (80%) after 500 cycles [1].",
  },
  { passage: BATTERY, sentence: "None of the cells caught fire, and the coating limits swelling [1]." },
  { passage: BATTERY, sentence: "At 4 C they were charged within 18 min [1]." },
  { passage: LANGUAGE, sentence: "No living language is related to Basque [1]." },
  {
    passage: LANGUAGE,
    sentence: "A standard form exists since 1968, and by 2016 there were three quarters of a million speakers [1].",
  },
  { passage: LANGUAGE, sentence: "“It had about 750,000 speakers in 2016, most of them in Spain” [1]." },
  { passage: CODE, sentence: "Builds take 31 seconds instead of 94 [1]." },
  { passage: CODE, sentence: "The cache is not enabled by default [1]." },
  { passage: CODE, sentence: "On every benchmark the old compiler is slower than the new one [1]." },
  { passage: OCEAN, sentence: "Antarctica lost less ice than Greenland [1]." },
  { passage: OCEAN, sentence: "Because it floats already, sea ice that melts leaves the sea level unchanged [1]." },
  { passage: LAW, sentence: "Of the nine cases of 2021, tenants lost three [1]." },
  { passage: LAW, sentence: "A landlord can refuse only for an important reason [1]." },
  { passage: TRANSFORMER, sentence: "The large model has 213 million parameters, the base model 65 million [1]." },
]

/** A second set, written without a look at the rules: they missed six of it before they knew comparisons of the same two sides. */
const COFFEE_2 =
  "The cohort followed 12,450 adults for nine years. Drinking three to four cups of coffee a day was associated with a 17% lower risk of death compared with drinking none. Decaffeinated coffee showed the same association. The authors found no association between tea and mortality. Smokers were excluded from the second analysis."
const ROCKET_2 =
  "The first stage burns liquid methane and produces 7,590 tonnes of thrust. The booster returned to the launch site seven minutes after lift-off. The second stage was lost over the Indian Ocean. The company plans five flights in 2025. The heat shield consists of about 18,000 ceramic tiles."
const SOIL_2 =
  "Plots without tillage stored more carbon than ploughed plots in the top 10 cm of soil. Below 30 cm there was no difference between the treatments. Yields of maize fell by 5% in the first three years. The experiment began in 1989 and has eight replicates. Earthworms were twice as abundant in plots without tillage."
const POSTGRES_2 =
  "Autovacuum is enabled by default and runs at most three workers at once. The default page size is 8 kB and cannot be changed after the cluster is initialised. An index-only scan is possible only if the visibility map marks the page as all-visible. Version 12 made CTEs inline by default. Logical replication does not copy sequences."
const VACCINE_2 =
  "Two doses of the vaccine prevented 94.1% of symptomatic infections. The second dose is given 28 days after the first. Protection was lower in adults over 65 than in younger adults. No deaths occurred in the vaccinated group. Storage at minus 20 °C is required until 30 days before use."
const RIVER_2 =
  "The Danube is the second-longest river in Europe, after the Volga. It flows through ten countries and is 2,850 km long. The river rises in the Black Forest and empties into the Black Sea. Four national capitals lie on its banks. Its delta has been a World Heritage Site since 1991."
const MUSIC_2 =
  "The symphony was first performed in Vienna on 7 May 1824. Beethoven was almost completely deaf when he wrote it. The orchestra had only two full rehearsals. It was the first symphony by a major composer to use voices. The manuscript is kept in Berlin."
const LAW_2 =
  "The regulation applies to companies with more than 250 employees or a turnover above €50 million. Member states had to transpose it by July 2024. Small companies are exempt until 2028. A fine may not exceed 5% of worldwide turnover. Whistleblowers cannot be dismissed because of a report."
const ML_2 =
  "With 8 attention heads the model reached 27.3 BLEU, and with 16 heads it reached 26.9. Removing positional encodings reduced accuracy. The large model was trained on four GPUs for six days. Label smoothing hurts perplexity but improves accuracy. No dropout was used in the final layer."

export const contradictedToo: readonly CitedSentence[] = [
  {
    passage: COFFEE_2,
    sentence: "Drinking three to four cups of coffee a day was associated with a 17% higher risk of death [1].",
  },
  { passage: COFFEE_2, sentence: "Tea was associated with lower mortality, the authors found [1]." },
  { passage: COFFEE_2, sentence: "The cohort followed 12,450 adults for nine months [1]." },
  { passage: COFFEE_2, sentence: "Decaffeinated coffee did not show the same association [1]." },
  { passage: COFFEE_2, sentence: "Smokers were included in the second analysis [1]." },
  {
    passage: COFFEE_2,
    sentence: "Drinking five to six cups of coffee a day was associated with a lower risk of death [1].",
  },
  { passage: ROCKET_2, sentence: "The booster returned to the launch site seventeen minutes after lift-off [1]." },
  { passage: ROCKET_2, sentence: "The first stage was lost over the Indian Ocean [1]." },
  { passage: ROCKET_2, sentence: "The company plans five flights in 2026 [1]." },
  { passage: ROCKET_2, sentence: "The first stage produces 7,590 kilograms of thrust [1]." },
  {
    passage: SOIL_2,
    sentence: "Ploughed plots stored more carbon than plots without tillage in the top 10 cm of soil [1].",
  },
  { passage: SOIL_2, sentence: "Yields of maize rose by 5% in the first three years [1]." },
  { passage: SOIL_2, sentence: "The experiment began in 1998 [1]." },
  { passage: SOIL_2, sentence: "Earthworms were three times as abundant in plots without tillage [1]." },
  {
    passage: SOIL_2,
    sentence: "Plots without tillage stored less carbon than ploughed plots in the top 10 cm of soil [1].",
  },
  { passage: POSTGRES_2, sentence: "Autovacuum is disabled by default [1]." },
  { passage: POSTGRES_2, sentence: "The default page size is 8 MB [1]." },
  { passage: POSTGRES_2, sentence: "Autovacuum runs at most five workers at once [1]." },
  { passage: POSTGRES_2, sentence: "Logical replication copies sequences [1]." },
  { passage: POSTGRES_2, sentence: "The page size can be changed after the cluster is initialised [1]." },
  { passage: VACCINE_2, sentence: "The second dose is given 28 weeks after the first [1]." },
  { passage: VACCINE_2, sentence: "Protection was higher in adults over 65 than in younger adults [1]." },
  { passage: VACCINE_2, sentence: "Deaths occurred in the vaccinated group [1]." },
  { passage: RIVER_2, sentence: "It flows through twelve countries [1]." },
  { passage: RIVER_2, sentence: "The delta has been a World Heritage Site since 1919 [1]." },
  { passage: MUSIC_2, sentence: "The orchestra had only three full rehearsals [1]." },
  { passage: LAW_2, sentence: "A fine may exceed 5% of worldwide turnover [1]." },
  { passage: LAW_2, sentence: "Small companies are not exempt until 2028 [1]." },
  {
    passage: ML_2,
    sentence: "With 16 attention heads the model reached 27.3 BLEU, and with 8 heads it reached 26.9 [1].",
  },
]

export const supportedToo: readonly CitedSentence[] = [
  {
    passage: COFFEE_2,
    sentence: "People who drank three or four cups a day had a 17% lower risk of dying than those who drank none [1].",
  },
  { passage: COFFEE_2, sentence: "The study covered more than 12,000 adults over nine years [1]." },
  { passage: COFFEE_2, sentence: "For tea, no such association was found [1]." },
  {
    passage: COFFEE_2,
    sentence: "The association did not depend on caffeine: decaffeinated coffee showed it too [1].",
  },
  { passage: ROCKET_2, sentence: "The upper stage did not survive: it was lost over the Indian Ocean [1]." },
  { passage: ROCKET_2, sentence: "Seven minutes after launch, the booster was back at the launch site [1]." },
  { passage: ROCKET_2, sentence: "Roughly 18,000 ceramic tiles make up the heat shield [1]." },
  { passage: ROCKET_2, sentence: "Five flights are planned for 2025 [1]." },
  { passage: SOIL_2, sentence: "In the top 10 cm, ploughed plots stored less carbon than plots without tillage [1]." },
  { passage: SOIL_2, sentence: "Deeper than 30 cm, the treatments did not differ [1]." },
  { passage: SOIL_2, sentence: "Maize yields were 5% lower in the first three years [1]." },
  { passage: SOIL_2, sentence: "Running since 1989, the experiment has eight replicates [1]." },
  { passage: SOIL_2, sentence: "Plots without tillage had twice the number of earthworms [1]." },
  { passage: POSTGRES_2, sentence: "Unless you change it, autovacuum is on, with up to three workers [1]." },
  { passage: POSTGRES_2, sentence: "Pages are 8 kB by default, and you cannot change this later [1]." },
  { passage: POSTGRES_2, sentence: "Sequences are not copied by logical replication [1]." },
  { passage: POSTGRES_2, sentence: "Since version 12, CTEs are inlined by default [1]." },
  { passage: VACCINE_2, sentence: "After two doses, 94.1% of symptomatic infections were prevented [1]." },
  { passage: VACCINE_2, sentence: "The two doses are given four weeks (28 days) apart [1]." },
  { passage: VACCINE_2, sentence: "Younger adults were better protected than adults over 65 [1]." },
  { passage: VACCINE_2, sentence: "No one in the vaccinated group died [1]." },
  { passage: RIVER_2, sentence: "Only the Volga is longer than the Danube in Europe [1]." },
  { passage: RIVER_2, sentence: "The Danube is 2,850 km long and crosses ten countries [1]." },
  { passage: RIVER_2, sentence: "Four capitals are on the river, which ends in the Black Sea [1]." },
  { passage: MUSIC_2, sentence: "Beethoven could hardly hear anything when he composed it [1]." },
  { passage: MUSIC_2, sentence: "It premiered in Vienna in May 1824 after only two full rehearsals [1]." },
  {
    passage: LAW_2,
    sentence: "Companies with 250 employees or fewer are not covered unless their turnover exceeds €50 million [1].",
  },
  { passage: LAW_2, sentence: "Fines are capped at 5% of worldwide turnover [1]." },
  { passage: ML_2, sentence: "Eight heads did better than sixteen: 27.3 against 26.9 BLEU [1]." },
  { passage: ML_2, sentence: "Label smoothing improves accuracy although it hurts perplexity [1]." },
]
