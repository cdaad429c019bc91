package scenario
import ("testing";"os";"fmt")
func TestX(t *testing.T){
 s,err:=Load(os.Getenv("F"))
 fmt.Println(err)
 if err==nil { fmt.Printf("%+v\n%+v %v\n",s.Policies,s.Assumptions,s.Warnings); fmt.Println(len(s.Config.Jobs),s.Hash,s.Config.Queues,s.Config.PodsReady)}
}
