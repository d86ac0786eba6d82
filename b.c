int f61(int a){return a+61;}
