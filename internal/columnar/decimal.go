package columnar

import "encoding/binary"

// decimalBytes is the width of a stored Decimal38: big-endian two's complement.
const decimalBytes = 16

// limit38 is 10^38, the first magnitude that 38 digits cannot write.
var limit38 = Int128{Hi: 0x4b3b4ca85a86c47a, Lo: 0x098a224000000000}

// less reports whether v < w.
func (v Int128) less(w Int128) bool {
	return v.Hi < w.Hi || v.Hi == w.Hi && v.Lo < w.Lo
}

// negated returns -v.
func (v Int128) negated() Int128 {
	hi := ^v.Hi
	if v.Lo == 0 {
		hi++
	}
	return Int128{Hi: hi, Lo: -v.Lo}
}

// fits reports whether v has at most 38 decimal digits.
func (v Int128) fits() bool {
	return v.less(limit38) && limit38.negated().less(v)
}

// appendTo appends the stored form of v.
func (v Int128) appendTo(b []byte) []byte {
	b = binary.BigEndian.AppendUint64(b, uint64(v.Hi))
	return binary.BigEndian.AppendUint64(b, v.Lo)
}

// int128 reads the stored form, of decimalBytes bytes.
func int128(b []byte) Int128 {
	return Int128{Hi: int64(binary.BigEndian.Uint64(b)), Lo: binary.BigEndian.Uint64(b[8:])}
}
