package columnar

import (
	"slices"
	"testing"
)

func TestColumnsByName(t *testing.T) {
	table := NewTable(Column{Name: "n", Kind: Int64}, Column{Name: "x", Kind: Float64}, Column{Name: "s", Kind: String},
		Column{Name: "b", Kind: Bool}, Column{Name: "d", Kind: Decimal38})
	table.AppendInt64(0, 7)
	table.AppendFloat64(1, 0.5)
	table.AppendString(2, "a")
	table.AppendBool(3, true)
	table.AppendDecimal(4, Int128{Lo: 9})
	for c := range table.Columns() {
		table.AppendNull(c)
	}
	n, err := table.Int64Column("n")
	checkValues(t, n, err, 7)
	x, err := table.Float64Column("x")
	checkValues(t, x, err, 0.5)
	s, err := table.StringColumn("s")
	checkValues(t, s, err, "a")
	b, err := table.BoolColumn("b")
	checkValues(t, b, err, true)
	d, err := table.DecimalColumn("d")
	checkValues(t, d, err, Int128{Lo: 9})
}

// checkValues expects a value and a null.
func checkValues[T comparable](t *testing.T, v Values[T], err error, want T) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	var zero T
	if !slices.Equal(v.All, []T{want, zero}) {
		t.Errorf("%v, want %v and zero", v.All, want)
	}
	if got, ok := v.At(0); got != want || !ok {
		t.Errorf("row 0 is %v, %v", got, ok)
	}
	if got, ok := v.At(1); got != zero || ok {
		t.Errorf("row 1 is %v, %v, want it missing", got, ok)
	}
}

func TestColumnsByNameSayWhatThereIs(t *testing.T) {
	table := NewTable(Column{Name: "n", Kind: Int64}, Column{Name: "s", Kind: String})
	for _, c := range []struct {
		column, want string
	}{{"m", `no column "m": the table has n, s`}, {"s", `column "s" holds string, not int64`}} {
		if _, err := table.Int64Column(c.column); err == nil || err.Error() != c.want {
			t.Errorf("%s: %v, want %s", c.column, err, c.want)
		}
	}
}
