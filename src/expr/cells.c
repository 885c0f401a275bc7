/*
 * cells.c
 *		Values of expressions as numbers of 8 bytes.
 */
#include "postgres.h"

#include "catalog/pg_collation.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/uuid.h"

#include "compat.h"
#include "expr/cells.h"
#include "expr/compile.h"
#include "expr/expr_builds.h"

/* ---- making */

/* Whether texts of a type are equal if their bytes are.  A bpchar without a length may have more blanks than another. */
static bool
is_as_its_bytes(const Expr *expr)
{
	return getBaseType(exprType((const Node *) expr)) != BPCHAROID || exprTypmod((const Node *) expr) > (int32) VARHDRSZ;
}

/* The form of cells that are words of a value's bytes. */
static cell_form
form_of_words(const Expr *expr)
{
	Oid			type_id = getBaseType(exprType((const Node *) expr));

	return type_id == UUIDOID ? CELLS_UUID : expr_type_is_inet(type_id) ? CELLS_INET : CELLS_BYTES;
}

static void
describe_number(value_cells *cells, const expr_type *type, Oid type_id)
{
	type_id = getBaseType(type_id);
	cells->form = type->is_numeric ? CELLS_NUMERIC : CELLS_NUMBER;
	cells->num_cells = 1;
	cells->width = type->width;
	cells->scale = type->scale;
	cells->kind = type->lane == MGPU_LANE_REAL ? MGPU_KEY_FLOAT :
		type->width == 1 || type_id == OIDOID || type_is_enum(type_id) ? MGPU_KEY_UNSIGNED : MGPU_KEY_SIGNED;
}

static int
add_words(expr_program *program, expr_value from, uint16 code, int num_words)
{
	int			first = program->num_outputs;
	expr_type	type = {MGPU_LANE_INTEGER, (uint16) num_words, false, 0};

	for (int i = 0; i < num_words; i++)
		(void) expr_program_add_output(program, find_op(program, code, type, i, &from));
	return first;
}

/* A text of a build: its number is there. */
static bool
add_build_name(expr_program *program, Expr *expr, value_cells *cells)
{
	expr_value	number;

	cells->names = compile_build_name(program, expr, &number);
	if (cells->names == NULL)
		return false;
	cells->form = CELLS_NAMED;
	cells->num_cells = 1;
	cells->first = expr_program_add_output(program, number);
	return true;
}

/* A text, uuid or inet of a build: its words are there.  false: it is something else. */
static bool
add_build_words(expr_program *program, Expr *expr, value_cells *cells)
{
	expr_value	words[MOST_CELLS];

	cells->num_cells = is_as_its_bytes(expr) ? compile_build_words(program, expr, words) : 0;
	if (cells->num_cells == 0)
		return is_as_its_bytes(expr) && add_build_name(program, expr, cells);
	cells->form = form_of_words(expr);
	cells->first = program->num_outputs;
	for (int i = 0; i < cells->num_cells; i++)
		(void) expr_program_add_output(program, words[i]);
	return true;
}

/* A text of any length, where it lies. */
static bool
add_long(expr_program *program, Expr *expr, value_cells *cells)
{
	const expr_value *value;

	*cells = (value_cells) {.form = CELLS_LONG,.num_cells = 1,.kind = MGPU_KEY_UNSIGNED,.width = sizeof(uint64),.first = expr_program_add(program, expr)};
	if (cells->first < 0)
		return false;
	value = &program->outputs[cells->first];
	if (value->type.lane != MGPU_LANE_BYTES || value->type.width > 0)
		return false;
	if (program->names == NULL)
		program->names = text_names_create();
	cells->names = program->names;
	return true;
}

text_names *
expr_program_names(const expr_program *program)
{
	return program->names;
}

/* What to_char makes, and what stands around it: all that is not blank stays, and so texts that differ. */
static bool
add_format(expr_program *program, Expr *expr, value_cells *cells)
{
	List	   *args = NIL;
	expr_value	value;

	*cells = (value_cells) {.form = CELLS_FORMATTED,.num_cells = 1,.kind = MGPU_KEY_SIGNED,.width = sizeof(int64)};
	switch (expr_function_of(expr, &args))
	{
		case F_BTRIM_TEXT: case F_LTRIM_TEXT: case F_RTRIM_TEXT: case F_LOWER_TEXT: case F_UPPER_TEXT: case F_INITCAP:
			cells->around = (const FuncExpr *) expr;
			expr = linitial(args);
			break;
		default:
			break;
	}
	if (!compile_format(program, expr, &value, &cells->format))
		return false;
	cells->first = expr_program_add_output(program, value);
	return true;
}

/* An enum that is cast to a text, and maybe a constant for NULL: of no label, or of one. */
static bool
add_label(expr_program *program, Expr *expr, value_cells *cells)
{
	CoalesceExpr *coalesce = (CoalesceExpr *) expr;
	const Const *otherwise = NULL;
	const CoerceViaIO *cast;

	*cells = (value_cells) {.form = CELLS_LABEL,.num_cells = 1,.kind = MGPU_KEY_UNSIGNED,.width = sizeof(Oid)};
	if (IsA(expr, CoalesceExpr) && list_length(coalesce->args) == 2)
	{
		expr = linitial(coalesce->args);
		otherwise = lsecond(coalesce->args);
	}
	cast = (const CoerceViaIO *) expr;
	if (!IsA(expr, CoerceViaIO) || cast->resulttype != TEXTOID || !type_is_enum(exprType((const Node *) cast->arg)))
		return false;
	if (otherwise)
	{
		cells->format = IsA(otherwise, Const) && !otherwise->constisnull ? otherwise->constvalue : (Datum) 0;
		if (cells->format == 0 || !take_labels(&expr, &otherwise))
			return false;
		coalesce = makeNode(CoalesceExpr);
		coalesce->coalescetype = exprType((const Node *) cast->arg);
		coalesce->args = list_make2(cast->arg, (void *) otherwise);
		expr = (Expr *) coalesce;
	}
	else
		expr = cast->arg;
	cells->first = expr_program_add(program, expr);
	return cells->first >= 0;
}

bool
expr_program_add_name(expr_program *program, Expr *expr, int num_words, value_cells *cells)
{
	if (add_format(program, expr, cells) || add_label(program, expr, cells))
		return true;
	if (!is_as_its_bytes(expr))
		return false;
	return may_name_of_build(program, expr) ? add_build_name(program, expr, cells) : num_words == 0 && add_long(program, expr, cells);
}

bool
expr_program_add_cells(expr_program *program, Expr *expr, int num_words, value_cells *cells)
{
	expr_value	value;

	*cells = (value_cells) {.form = CELLS_NUMBER,.kind = MGPU_KEY_SIGNED,.width = sizeof(int64)};
	if (add_build_words(program, expr, cells))
		return true;
	cells->first = expr_program_add(program, expr);
	if (cells->first < 0)
		return false;
	value = program->outputs[cells->first];
	if (value.type.lane == MGPU_LANE_SHOWN)
	{
		cells->form = CELLS_SHOWN;
		cells->scale = value.type.scale;
		cells->num_cells = 2;
		value.type.lane = MGPU_LANE_INTEGER;
		(void) expr_program_add_output(program, find_op(program, MGPU_RUN_SHOWN_DIGITS, value.type, 0, &value));
	}
	else if (value.type.lane != MGPU_LANE_BYTES)
		describe_number(cells, &value.type, exprType((Node *) expr));
	else
	{
		static const uint16 codes[] = {[CELLS_BYTES] = MGPU_RUN_WORD,[CELLS_UUID] = MGPU_RUN_WORD_FIXED,[CELLS_INET] = MGPU_RUN_WORD_INET};

		if (!is_as_its_bytes(expr) || num_words == 0)
			return false;
		cells->form = form_of_words(expr);
		cells->num_cells = cells->form == CELLS_UUID ? UUID_LEN / (int) sizeof(uint64) : num_words;
		cells->first = add_words(program, value, codes[cells->form], cells->num_cells);
	}
	return true;
}

/* ---- NULLs as values */

/* A value of a register's kind. */
static bool
make_filler(expr_program *program, expr_type type, expr_value *value)
{
	Const	   *constant = type.lane == MGPU_LANE_REAL ? makeConst(FLOAT8OID, -1, InvalidOid, sizeof(float8), Float8GetDatum(0), false, FLOAT8PASSBYVAL) :
		type.lane == MGPU_LANE_BYTES ? makeConst(TEXTOID, -1, DEFAULT_COLLATION_OID, -1, CStringGetTextDatum(""), false, false) :
		makeConst(INT8OID, -1, InvalidOid, sizeof(int64), Int64GetDatum(0), false, FLOAT8PASSBYVAL);

	if (!compile_expr(program, (Expr *) constant, value))
		return false;
	if (type.lane == MGPU_LANE_SHOWN)
		*value = show_scale(program, *value, 0);
	return true;
}

bool
expr_program_fill_cells(expr_program *program, Expr *is_null, value_cells *cells)
{
	expr_value	from[3];

	if (!compile_expr(program, is_null, &from[0]))
		return false;
	for (int i = cells->first; i < cells->first + cells->num_cells; i++)
	{
		from[2] = program->outputs[i];
		if (!make_filler(program, from[2].type, &from[1]))
			return false;
		program->outputs[i] = add_op(program, MGPU_RUN_CHOOSE, from[2].type, 0, 3, from);
	}
	return true;
}

/* As decimal digits. */
int
expr_program_add_flags(expr_program *program, List *conditions)
{
	const expr_type type = {MGPU_LANE_INTEGER, sizeof(int64), false, 0};
	expr_value	both[2];
	ListCell   *cell;

	if (!compile_expr(program, linitial(conditions), &both[0]))
		return -1;
	for_each_from(cell, conditions, 1)
	{
		if (!compile_expr(program, lfirst(cell), &both[1]))
			return -1;
		both[0] = add_op(program, MGPU_RUN_SCALE_UP, type, 10, 1, both);
		both[0] = add_op(program, MGPU_RUN_ADD_INTEGER, type, 0, 2, both);
	}
	return expr_program_add_output(program, both[0]);
}

/* ---- for a job */

bool
expr_program_export(const expr_program *program, mgpu_group_spec *spec)
{
	if (program->num_ops > MGPU_GROUP_MAX_OPS || program->num_registers > MGPU_GROUP_MAX_REGISTERS ||
		list_length(program->constants) > MGPU_GROUP_MAX_CONSTANTS || program->tables.len > MGPU_GROUP_TABLE_BYTES)
		return false;
	/* operations have offsets into the tables, so these come first */
	spec->table_bytes = program->tables.len;
	memcpy(spec->tables, program->tables.data, program->tables.len);
	spec->num_ops = program->num_ops;
	spec->num_registers = program->num_registers;
	spec->num_constants = list_length(program->constants);
	memcpy(spec->ops, program->ops, program->num_ops * sizeof(mgpu_program_op));
	memcpy(spec->lanes, program->lanes, program->num_registers);
	return true;
}

uint32
expr_program_output_register(const expr_program *program, int number)
{
	return program->outputs[number].reg;
}

uint32
expr_program_num_ops(const expr_program *program)
{
	return program->num_ops;
}

int64
group_spec_add_bytes(mgpu_group_spec *spec, const void *bytes, Size length)
{
	uint32		offset = MAXALIGN(spec->table_bytes);

	if (offset + length > MGPU_GROUP_TABLE_BYTES)
		return -1;
	memcpy((char *) spec->tables + offset, bytes, length);
	spec->table_bytes = offset + length;
	return offset;
}

static bool
export_constant(const expr_constant *from, mgpu_group_spec *spec)
{
	mgpu_group_constant *to = &spec->constants[from->reg];

	*to = (mgpu_group_constant) {.bits = from->number,.is_null = from->is_null};
	if (from->is_null)
		to->bits = 0;
	else if (from->type.lane == MGPU_LANE_REAL)
		memcpy(&to->bits, &from->real, sizeof(double));
	else if (from->type.lane == MGPU_LANE_BYTES)
	{
		to->length = from->length;
		to->bits = group_spec_add_bytes(spec, from->bytes, from->length);
	}
	return to->bits >= 0 || from->type.lane != MGPU_LANE_BYTES;
}

bool
expr_program_export_constants(const expr_program *program, mgpu_group_spec *spec)
{
	ListCell   *cell;

	foreach(cell, program->constants)
		if (!export_constant(lfirst(cell), spec))
			return false;
	return true;
}
