//go:build scale && linux

package cmd
import ("testing";"fmt";"time")
func TestScaleTmp(t *testing.T){
 m:=scaleMix(scaleSize(t)); dir:=fillMix(t,m); o:=newOracle(t,m,dir)
 b:=time.Now(); s:=o.scaleSearches(30); fmt.Println("made",len(s),time.Since(b)); b=time.Now(); o.expect(s); fmt.Println("expected",time.Since(b))
 for i,a:=range s { if i%15==0 {fmt.Printf("%s %q %q %s %d %d\n",a.class,a.text,a.words,a.address(25),a.count,len(a.want))}
  for _,r:=range a.want { if err:=o.explains(a,r,0);err!=nil{t.Error(a.text,err)} } }
}
