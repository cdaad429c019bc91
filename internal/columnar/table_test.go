package columnar

import (
	"math/big"
	"strings"
	"testing"
)

// everyKind declares one column of each kind.
func everyKind() []Column {
	return []Column{
		{Name: "submit", Unit: "ns", Doc: "when the job arrived", Kind: Int64},
		{Name: "hours", Unit: "h", Doc: "GPU-hours", Kind: Float64},
		{Name: "queue", Doc: "LocalQueue", Kind: String, Dict: true},
		{Name: "id", Kind: String},
		{Name: "done", Kind: Bool},
		{Name: "held", Unit: "milli-GPU ns", Kind: Decimal38},
	}
}

// appendRow adds one value to every column of everyKind.
func appendRow(t *Table, i int64, f float64, queue, id string, done bool, held Int128) {
	t.AppendInt64(0, i)
	t.AppendFloat64(1, f)
	t.AppendString(2, queue)
	t.AppendString(3, id)
	t.AppendBool(4, done)
	t.AppendDecimal(5, held)
}

func appendNulls(t *Table) {
	for c := range t.Columns() {
		t.AppendNull(c)
	}
}

func TestTableHoldsWhatIsAppended(t *testing.T) {
	tab := NewTable(everyKind()...)
	appendRow(tab, 7, 0.5, "prod", "a", true, Int128{Lo: 9})
	appendNulls(tab)
	appendRow(tab, -8, 1.5, "dev", "b", false, Int128{Hi: -1, Lo: 1})
	if tab.Rows() != 3 {
		t.Fatalf("%d rows, want 3", tab.Rows())
	}
	if got := tab.Int64s(0); got[0] != 7 || got[1] != 0 || got[2] != -8 {
		t.Errorf("ints %v, want 7, 0 for the null, -8", got)
	}
	if got := tab.Strings(2); got[0] != "prod" || got[1] != "" || got[2] != "dev" {
		t.Errorf("strings %q", got)
	}
	for c := range tab.Columns() {
		if tab.IsNull(c, 0) || !tab.IsNull(c, 1) || tab.IsNull(c, 2) {
			t.Errorf("column %d: want exactly row 1 null", c)
		}
	}
}

func TestTableWithoutNullsSaysSo(t *testing.T) {
	tab := NewTable(everyKind()...)
	appendRow(tab, 1, 1, "", "", false, Int128{})
	for c := range tab.Columns() {
		if tab.HasNulls(c) || tab.IsNull(c, 0) {
			t.Errorf("column %d has a null that nobody appended", c)
		}
	}
}

func TestRowsCountsCompleteRows(t *testing.T) {
	tab := NewTable(Column{Name: "a"}, Column{Name: "b"})
	tab.AppendInt64(0, 1)
	if tab.Rows() != 0 {
		t.Errorf("%d rows before the second column has its value, want 0", tab.Rows())
	}
	tab.AppendInt64(1, 1)
	if tab.Rows() != 1 {
		t.Errorf("%d rows, want 1", tab.Rows())
	}
	if NewTable().Rows() != 0 {
		t.Error("a table without columns has rows")
	}
}

func TestIndexFindsColumnsByName(t *testing.T) {
	tab := NewTable(everyKind()...)
	if got := tab.Index("queue"); got != 2 {
		t.Errorf("queue is column %d, want 2", got)
	}
	if got := tab.Index("nope"); got != -1 {
		t.Errorf("nope is column %d, want -1", got)
	}
}

func TestMistakesOfTheProgramPanic(t *testing.T) {
	for name, mistake := range map[string]func(){
		`int64 value for string column "s"`: func() { NewTable(Column{Name: "s", Kind: String}).AppendInt64(0, 1) },
		`bool value for int64 column "i"`:   func() { NewTable(Column{Name: "i"}).AppendBool(0, true) },
		`"i" is empty or given twice`:       func() { NewTable(Column{Name: "i"}, Column{Name: "i"}) },
		`"" is empty or given twice`:        func() { NewTable(Column{}) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if p, _ := recover().(string); !strings.Contains(p, name) {
					t.Errorf("panic %q, want it to say %s", p, name)
				}
			}()
			mistake()
		})
	}
}

// bigInt is the independent reading of an Int128.
func bigInt(v Int128) *big.Int {
	n := new(big.Int).Lsh(big.NewInt(v.Hi), 64)
	return n.Add(n, new(big.Int).SetUint64(v.Lo))
}

var int128s = []Int128{
	{}, {Lo: 1}, {Hi: -1, Lo: ^uint64(0)}, {Lo: 1 << 63}, {Hi: 1}, {Hi: -1}, {Hi: -5, Lo: 7},
	{Hi: 0x4b3b4ca85a86c47a, Lo: 0x098a223fffffffff}, {Hi: 0x4b3b4ca85a86c47a, Lo: 0x098a224000000000},
	{Hi: 1<<63 - 1, Lo: ^uint64(0)}, {Hi: -1 << 63},
}

func TestInt128AgainstBigInt(t *testing.T) {
	limit := new(big.Int).Exp(big.NewInt(10), big.NewInt(38), nil)
	for _, v := range int128s {
		if got, want := v.fits(), bigInt(v).CmpAbs(limit) < 0; got != want {
			t.Errorf("%v fits 38 digits: %v, want %v", bigInt(v), got, want)
		}
		if v.Hi == -1<<63 && v.Lo == 0 {
			continue // has no negative
		}
		if got, want := bigInt(v.negated()), new(big.Int).Neg(bigInt(v)); got.Cmp(want) != 0 {
			t.Errorf("-%v = %v", bigInt(v), got)
		}
		for _, w := range int128s {
			if got, want := v.less(w), bigInt(v).Cmp(bigInt(w)) < 0; got != want {
				t.Errorf("%v < %v: %v, want %v", bigInt(v), bigInt(w), got, want)
			}
		}
	}
}

func TestStoredDecimalRoundTrip(t *testing.T) {
	for _, v := range int128s {
		b := v.appendTo(nil)
		if len(b) != decimalBytes || int128(b) != v {
			t.Errorf("%v became %x and then %v", v, b, int128(b))
		}
	}
}
