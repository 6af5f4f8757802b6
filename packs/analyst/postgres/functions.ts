/**
 * The functions of PostgreSQL that a query may use: those that only compute. Functions that write, wait, take locks,
 * read files, describe the server, or run a text as a statement (query_to_xml, ts_stat, ts_rewrite …) are missing.
 */
export const postgresFunctions: ReadonlySet<string> = new Set(
  [
    // Aggregates and window functions
    `any_value array_agg avg bit_and bit_or bit_xor bool_and bool_or corr count covar_pop covar_samp cume_dist dense_rank
    every first_value json_agg json_agg_strict json_object_agg json_object_agg_strict json_object_agg_unique
    json_object_agg_unique_strict jsonb_agg jsonb_agg_strict jsonb_object_agg jsonb_object_agg_strict
    jsonb_object_agg_unique jsonb_object_agg_unique_strict lag last_value lead max min mode nth_value ntile percent_rank
    percentile_cont percentile_disc range_agg range_intersect_agg rank regr_avgx regr_avgy regr_count regr_intercept
    regr_r2 regr_slope regr_sxx regr_sxy regr_syy row_number stddev stddev_pop stddev_samp string_agg sum var_pop
    var_samp variance`,
    // Numbers
    `abs acos acosd acosh asin asind asinh atan atan2 atan2d atand atanh bit_count cbrt ceil ceiling cos cosd cosh cot
    cotd degrees div erf erfc exp factorial floor gamma gcd lcm lgamma ln log log10 min_scale mod pi pow power radians
    random round scale sign sin sind sinh sqrt tan tand tanh to_bin to_hex to_oct trim_scale trunc width_bucket`,
    // Text and bytes
    `ascii bit_length btrim casefold char_length character_length chr concat concat_ws convert_from convert_to crc32
    crc32c decode encode format get_bit get_byte initcap is_normalized left length like_escape lower lpad ltrim md5
    normalize octet_length overlay parse_ident position quote_ident quote_literal quote_nullable regexp_count
    regexp_instr regexp_like regexp_match regexp_matches regexp_replace regexp_split_to_array regexp_split_to_table
    regexp_substr repeat replace reverse right rpad rtrim set_bit set_byte sha224 sha256 sha384 sha512 similar_escape
    similar_to_escape split_part starts_with string_to_array string_to_table strpos substr substring textlen to_ascii
    to_char to_number translate unicode_assigned unistr upper`,
    // Dates and times
    `age clock_timestamp date_add date_bin date_part date_subtract date_trunc extract isfinite justify_days
    justify_hours justify_interval make_date make_interval make_time make_timestamp make_timestamptz now overlaps
    statement_timestamp timeofday timezone to_date to_timestamp transaction_timestamp`,
    // JSON
    `array_to_json json_array_elements json_array_elements_text json_array_length json_build_array json_build_object
    json_each json_each_text json_extract_path json_extract_path_text json_object json_object_keys json_populate_record
    json_populate_recordset json_strip_nulls json_to_record json_to_recordset json_typeof jsonb_array_elements
    jsonb_array_elements_text jsonb_array_length jsonb_build_array jsonb_build_object jsonb_concat jsonb_each
    jsonb_each_text jsonb_extract_path jsonb_extract_path_text jsonb_insert jsonb_object jsonb_object_keys
    jsonb_path_exists jsonb_path_exists_tz jsonb_path_match jsonb_path_match_tz jsonb_path_query jsonb_path_query_array
    jsonb_path_query_array_tz jsonb_path_query_first jsonb_path_query_first_tz jsonb_path_query_tz
    jsonb_populate_record jsonb_populate_recordset jsonb_pretty jsonb_set jsonb_set_lax jsonb_strip_nulls
    jsonb_to_record jsonb_to_recordset jsonb_typeof row_to_json to_json to_jsonb`,
    // Arrays and ranges
    `array_append array_cat array_dims array_fill array_length array_lower array_ndims array_position array_positions
    array_prepend array_remove array_replace array_reverse array_sort array_to_string array_upper cardinality datemultirange
    daterange generate_series generate_subscripts int4multirange int4range int8multirange int8range isempty lower_inc
    lower_inf multirange nummultirange numrange range_merge trim_array tsmultirange tsrange tstzmultirange tstzrange
    unnest upper_inc upper_inf`,
    // Full-text search
    `array_to_tsvector get_current_ts_config json_to_tsvector jsonb_to_tsvector numnode phraseto_tsquery
    plainto_tsquery querytree setweight strip to_tsquery to_tsvector ts_delete ts_filter ts_headline ts_lexize ts_rank
    ts_rank_cd tsquery_phrase tsvector_to_array websearch_to_tsquery`,
    // Network addresses, geometry, UUIDs
    `abbrev area box broadcast center circle diagonal diameter family height host hostmask inet_merge inet_same_family
    isclosed isopen line lseg macaddr8_set7bit masklen netmask network npoints path pclose point polygon popen radius
    set_masklen slope gen_random_uuid uuidv4 uuidv7 uuid_extract_timestamp uuid_extract_version width`,
    // Enumerations, casts written as calls, and types
    `bool bpchar bytea cidr date enum_first enum_last enum_range float4 float8 int2 int4 int8 interval money name
    num_nonnulls num_nulls numeric oid pg_collation_for pg_column_size pg_typeof text time timestamp timestamptz timetz
    varbit varchar`,
    // Definition and size of tables
    `col_description current_database current_schema current_schemas format_type obj_description pg_get_constraintdef
    pg_get_expr pg_get_indexdef pg_get_viewdef pg_indexes_size pg_relation_size pg_size_bytes pg_size_pretty
    pg_table_is_visible pg_table_size pg_total_relation_size to_regclass to_regtype version`,
  ].flatMap((names) => names.split(/\s+/)),
)

/** The system catalogs that describe tables. Others contain password hashes, settings or other users' queries. */
export const postgresCatalogues: ReadonlySet<string> = new Set(
  `pg_attrdef pg_attribute pg_class pg_collation pg_constraint pg_description pg_enum pg_index pg_indexes pg_inherits
  pg_matviews pg_namespace pg_range pg_sequence pg_tables pg_type pg_views pg_timezone_names`.split(/\s+/),
)
